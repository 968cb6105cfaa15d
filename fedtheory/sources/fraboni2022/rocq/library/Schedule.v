(** Schedules: which clients report in which update of the server, and how old the models are that they work on.

    Fraboni et al. (2022), Sections 2.2 and 4. *)

From Coq Require Import Reals Lra Lia Arith Bool.
Require Import Space Clients.
Require Run.
Open Scope R_scope.

Record schedule := {
  clients_of : clients;
  time_of : nat -> R;
  weight_of : nat -> R;
  updates : nat;
  duration : nat -> R;
  reports : nat -> nat -> bool;
  times_positive : forall i, (i < number clients_of)%nat -> 0 < time_of i;
  weights_nonneg : forall i, (i < number clients_of)%nat -> 0 <= weight_of i;
  some_updates : (0 < updates)%nat }.

(** The least whole number that is not smaller. *)
Definition ceiling (x : R) : Z := (1 - up (- x))%Z.

Fixpoint lcm_of (n : nat) (f : nat -> nat) : nat :=
  match n with O => 1%nat | S n => Nat.lcm (lcm_of n f) (f n) end.

(** How often something holds of 0, ..., n - 1. *)
Fixpoint count (n : nat) (f : nat -> bool) : nat :=
  match n with O => O | S n => ((if f n then 1 else 0) + count n f)%nat end.

(** The smallest of n > 0 numbers. *)
Fixpoint smallest (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S n => match n with O => f O | S _ => Rmin (smallest n f) (f n) end end.

Section Definitions.
Context (A : schedule).
Notation C := (clients_of A).

Definition M_of : R := INR (number C).
Definition N_of : R := INR (updates A).

(** t^n, when update n starts. *)
Definition instant (n : nat) : R := sum n (duration A).

(** n - rho_i(n): how many updates ago client i received the model that it works on. *)
Fixpoint age (n i : nat) : nat :=
  match n with O => O | S n => if reports A n i then O else S (age n i) end.

(** T_i^n = T_i - (t^n - t^{rho_i(n)}): the time that client i still needs. *)
Definition remaining (n i : nat) : R := time_of A i - (instant n - instant (n - age n i)).

(** FedFix: an update in every interval, with all that has arrived. *)
Record fixed_intervals (interval : R) : Prop := {
  interval_positive : 0 < interval;
  of_interval : forall n, duration A n = interval;
  who_is_done : forall n i, (i < number C)%nat -> (reports A n i = true <-> remaining n i <= interval) }.

(** Asynchronous FedAvg: an update as soon as a client is done.  Of those that tie all report, or the first. *)
Record asynchronous : Prop := {
  first_done : forall n i, (i < number C)%nat -> duration A n <= remaining n i;
  somebody_done : forall n, exists i, (i < number C)%nat /\ reports A n i = true;
  only_done : forall n i, (i < number C)%nat -> reports A n i = true -> remaining n i = duration A n;
  ties_in_order : forall n i j, (i < j)%nat -> (j < number C)%nat ->
    remaining n i = remaining n j -> reports A n j = true -> reports A n i = true }.

Definition one_at_a_time : Prop := forall n, (n < updates A)%nat -> count (number C) (reports A n) = 1%nat.
Definition several_clients : Prop := (2 <= number C)%nat.
Definition identical_times : Prop := forall i, (i < number C)%nat -> time_of A i = time_of A O.
Definition positive_weights : Prop := forall i, (i < number C)%nat -> 0 < weight_of A i.

Definition report_count (i : nat) : R := INR (count (updates A) (fun n => reports A n i)).
Definition clock_time : R := instant (updates A).
Definition update_rate : R := sum (number C) (fun i => 1 / time_of A i).
Definition slowest_time : R := Run.largest (number C) (time_of A).
Definition fastest_time : R := smallest (number C) (time_of A).
Definition least_remaining (n : nat) : R := smallest (number C) (remaining n).

(** The run ends when everybody has reported in proportion to its speed. *)
Definition whole_cycles (time : nat -> R) : Prop :=
  forall i, (i < number C)%nat -> report_count i = clock_time / time i.

(** nu: the least time that every T_i divides. *)
Definition is_period (nu : R) : Prop := 0 < nu /\ forall i, (i < number C)%nat -> exists k, nu = INR k * time_of A i.
Definition least_period (nu : R) : Prop := is_period nu /\ forall other, is_period other -> nu <= other.
Definition reports_in_a_period (nu : R) : R := sum (number C) (fun i => nu / time_of A i).

(** N_i = ceil(T_i / Delta t): a client of FedFix reports in every N_i-th update. *)
Definition interval_count (interval : R) (i : nat) : nat := Z.to_nat (ceiling (time_of A i / interval)).
Definition report_interval (interval : R) (i : nat) : R := INR (interval_count interval i).
Definition longest_report_interval (interval : R) : R := Run.largest (number C) (report_interval interval).
Definition common_report_interval (interval : R) : R := INR (lcm_of (number C) (interval_count interval)).
(** The time after which a client of FedFix is heard. *)
Definition heard_after (interval : R) (i : nat) : R := report_interval interval i * interval.

(** q_i(n), its mean over the updates, and the sum of all. *)
Definition weight (n i : nat) : R := if reports A n i then weight_of A i else 0.
Definition mean_weight (i : nat) : R := 1 / N_of * sum (updates A) (fun n => weight n i).

(** Assumption 4: how old a model gets. *)
Definition largest_staleness : R :=
  Run.largest (updates A) (fun n => Run.largest (number C) (fun i => INR (age n i))).

(** Assumption 5: alpha is zero where no update has two reports, else one; and beta. *)
Definition weight_pairing : R :=
  Run.largest (updates A) (fun n => if (1 <? count (number C) (reports A n))%nat then 1 else 0).
Definition weight_excess : R := Run.largest (updates A)
  (fun n => Run.largest (number C) (fun i => weight_of A i - weight_pairing * weight n i)).
Definition reporting_excess : R := Run.largest (updates A) (fun n => Run.largest (number C)
  (fun i => if Req_EM_T (weight n i) 0 then 0 else weight_of A i - weight_pairing * weight n i)).
Definition largest_weight : R := Run.largest (number C) (weight_of A).

(** Assumption 6: W updates after which each client has the same sum of weights, and the least such number. *)
Definition is_window (W : nat) : Prop := (0 < W)%nat /\ exists blocks, updates A = (W * blocks)%nat /\
  forall b i, (b < blocks)%nat -> (i < number C)%nat ->
    sum W (fun n => weight (b * W + n) i) = sum W (fun n => weight n i).
Definition smallest_window (W : nat) : Prop := is_window W /\ forall other, is_window other -> (W <= other)%nat.

Lemma N_at_least_one : 1 <= N_of.
Proof. unfold N_of. replace 1 with (INR 1) by reflexivity. apply le_INR. pose proof (some_updates A). lia. Qed.

Lemma M_at_least_one : 1 <= M_of.
Proof. apply number_ge_1. Qed.

Lemma sum_of_weights n i : sum n (fun m => weight m i) = weight_of A i * INR (count n (fun m => reports A m i)).
Proof.
  induction n; cbn [sum count]; [simpl; ring |]. rewrite IHn, plus_INR. unfold weight.
  destruct (reports A n i); simpl INR; ring.
Qed.

(** A client counts with d_i whenever it reports. *)
Lemma mean_weight_by_count i : mean_weight i * N_of = weight_of A i * report_count i.
Proof.
  unfold mean_weight, report_count. rewrite sum_of_weights. pose proof N_at_least_one. field. lra.
Qed.

Lemma largest_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> Run.largest n f = Run.largest n g.
Proof. induction n; simpl; intros H; auto. rewrite IHn, H; auto. Qed.

Lemma largest_nonneg n f : 0 <= Run.largest n f.
Proof. induction n; simpl; [lra |]. apply Rle_trans with (1 := IHn), Rmax_l. Qed.

Lemma stale_nonneg : 0 <= largest_staleness.
Proof. apply largest_nonneg. Qed.

Lemma largest_const n c : (0 < n)%nat -> 0 <= c -> Run.largest n (fun _ => c) = c.
Proof.
  intros Hn Hc. apply Rle_antisym.
  - apply Run.largest_at_most; auto; intros; lra.
  - apply (Run.largest_at_least n (fun _ => c) O); assumption.
Qed.

Lemma age_below n i : (age n i <= n)%nat.
Proof. induction n; simpl; [lia |]. destruct (reports A n i); lia. Qed.

Lemma sum_of_ones : sum (number C) (fun i => 1) = M_of.
Proof. rewrite sum_const. unfold M_of. ring. Qed.

Lemma slower i : (i < number C)%nat -> 0 <= slowest_time - time_of A i.
Proof. intros Hi. pose proof (Run.largest_at_least _ (time_of A) i Hi). unfold slowest_time. lra. Qed.

Lemma slowest_positive : 0 < slowest_time.
Proof.
  pose proof (several C) as H. pose proof (slower O H). pose proof (times_positive A O H). lra.
Qed.

Lemma smallest_at_most n f i : (i < n)%nat -> smallest n f <= f i.
Proof.
  induction n; intros Hi; [lia |]. cbn [smallest]. destruct n; [assert (i = O) as -> by lia; lra |].
  destruct (Nat.eq_dec i (S n)) as [-> | other]; [apply Rmin_r |].
  apply Rle_trans with (1 := Rmin_l _ _), IHn. lia.
Qed.

Lemma smallest_at_least n f b : (0 < n)%nat -> (forall i, (i < n)%nat -> b <= f i) -> b <= smallest n f.
Proof.
  induction n; intros Hn H; [lia |]. cbn [smallest]. destruct n; [apply H; lia |].
  apply Rmin_glb; [apply IHn; [lia | intros; apply H; lia] | apply H; lia].
Qed.

Lemma faster i : (i < number C)%nat -> 0 <= time_of A i - fastest_time.
Proof. intros Hi. pose proof (smallest_at_most _ (time_of A) i Hi). unfold fastest_time. lra. Qed.

Lemma fastest_positive : 0 < fastest_time.
Proof.
  unfold fastest_time. pose proof (several C) as H. pose proof (times_positive A) as positive.
  induction (number C) as [| n IH]; [lia |]. cbn [smallest]. destruct n; [apply positive; lia |].
  apply Rmin_glb_lt; [apply IH; [lia | intros; apply positive; lia] | apply positive; lia].
Qed.

Lemma fastest_below_slowest : 0 <= slowest_time - fastest_time.
Proof. pose proof (several C) as H. pose proof (faster O H). pose proof (slower O H). lra. Qed.

Lemma sum_positive n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. destruct n; [lia |]. cbn [sum]. pose proof (H n ltac:(lia)).
  assert (0 <= sum n f) by (apply sum_nonneg; intros; apply Rlt_le, H; lia). lra.
Qed.

Lemma rate_positive : 0 < update_rate.
Proof.
  apply sum_positive; [apply several |]. intros i Hi. pose proof (times_positive A i Hi).
  apply Rdiv_lt_0_compat; lra.
Qed.

Lemma count_as_sum n f : INR (count n f) = sum n (fun k => if f k then 1 else 0).
Proof. induction n; cbn [count sum]; [reflexivity |]. rewrite plus_INR, IHn. destruct (f n); simpl INR; ring. Qed.

Lemma sum_split a b f : sum (a + b) f = sum a f + sum b (fun n => f (a + n)%nat).
Proof.
  induction b; [rewrite Nat.add_0_r; cbn [sum]; ring |].
  rewrite Nat.add_succ_r. cbn [sum]. rewrite IHb. ring.
Qed.

Lemma sum_of_blocks W blocks f : sum (W * blocks) f = sum blocks (fun b => sum W (fun n => f (b * W + n)%nat)).
Proof.
  induction blocks; [rewrite Nat.mul_0_r; reflexivity |].
  rewrite Nat.mul_succ_r, sum_split, IHblocks. cbn [sum]. f_equal. apply sum_ext; intros; f_equal; lia.
Qed.

Lemma largest_scale n c f : 0 <= c -> Run.largest n (fun i => c * f i) = c * Run.largest n f.
Proof.
  intros Hc. induction n; simpl; [ring |]. rewrite IHn.
  destruct (Rle_dec (Run.largest n f) (f n)) as [below | above].
  - rewrite !Rmax_right; [reflexivity | assumption | apply Rmult_le_compat_l; assumption].
  - rewrite !Rmax_left; [reflexivity | lra | apply Rmult_le_compat_l; lra].
Qed.

(** Where each update has one report. *)
Section Alone.
Context (alone : one_at_a_time).

Lemma one_report_each : sum (number C) (fun i => report_count i) - N_of = 0.
Proof.
  unfold report_count. rewrite (sum_ext _ _ (fun i => sum (updates A) (fun n => if reports A n i then 1 else 0)))
    by (intros; apply count_as_sum).
  rewrite sum_swap, (sum_ext _ _ (fun _ => 1)); [rewrite sum_const; unfold N_of; ring |].
  intros n Hn. rewrite <- (count_as_sum (number C) (reports A n)), alone by assumption. reflexivity.
Qed.

Lemma pairing_alone : weight_pairing - 0 = 0.
Proof.
  unfold weight_pairing. rewrite (largest_ext _ _ (fun _ => 0)).
  - rewrite largest_const; [ring | apply some_updates | lra].
  - intros n Hn. rewrite alone by assumption. reflexivity.
Qed.

Lemma excess_alone : weight_excess - largest_weight = 0.
Proof.
  pose proof pairing_alone as zero. unfold weight_excess.
  rewrite (largest_ext _ _ (fun _ => largest_weight)).
  - rewrite largest_const; [ring | apply some_updates | apply largest_nonneg].
  - intros n _. apply largest_ext. intros i _. replace weight_pairing with 0 by lra. ring.
Qed.
End Alone.

(** Asynchronous FedAvg. *)
Lemma duration_is_least : asynchronous -> forall n, duration A n - least_remaining n = 0.
Proof.
  intros async n. apply Rminus_diag_eq, Rle_antisym.
  - apply smallest_at_least; [apply several |]. intros i Hi. apply (first_done async n i Hi).
  - destruct (somebody_done async n) as [i [Hi reported]].
    rewrite <- (only_done async n i Hi reported). apply smallest_at_most. assumption.
Qed.

Lemma reports_per_time : whole_cycles (time_of A) ->
  forall i, (i < number C)%nat -> time_of A i * report_count i - clock_time = 0.
Proof. intros cycles i Hi. rewrite (cycles i Hi). pose proof (times_positive A i Hi). field. lra. Qed.

Lemma time_has_passed : one_at_a_time -> whole_cycles (time_of A) -> 0 < clock_time.
Proof.
  intros alone cycles. pose proof (one_report_each alone) as total. pose proof N_at_least_one as large.
  rewrite (sum_ext _ _ (fun i => clock_time * (1 / time_of A i))) in total.
  - rewrite sum_scale in total. fold update_rate in total. pose proof rate_positive as positive.
    apply Rmult_lt_reg_r with update_rate; lra.
  - intros i Hi. rewrite (cycles i Hi). field. pose proof (times_positive A i Hi). lra.
Qed.

Lemma in_a_period nu : reports_in_a_period nu - nu * update_rate = 0.
Proof. unfold reports_in_a_period, update_rate. rewrite <- sum_scale. apply Rminus_diag_eq, sum_ext. intros. unfold Rdiv. ring. Qed.

Lemma period_reports_positive nu : 0 < nu -> 0 < reports_in_a_period nu.
Proof. intros Hnu. pose proof (in_a_period nu). pose proof (Rmult_lt_0_compat _ _ Hnu rate_positive). lra. Qed.

(** Of weights in proportion to the times the slowest client has the largest. *)
Lemma slowest_weight : uniform C ->
  (forall i, (i < number C)%nat -> weight_of A i = share C i * update_rate * time_of A i) ->
  M_of * largest_weight - update_rate * slowest_time = 0.
Proof.
  intros equal proportional. unfold largest_weight. pose proof M_at_least_one as large. unfold M_of in *.
  rewrite (largest_ext _ _ (fun i => update_rate / INR (number C) * time_of A i)).
  - rewrite largest_scale; [unfold slowest_time; field; lra |].
    pose proof rate_positive. apply Rlt_le, Rdiv_lt_0_compat; lra.
  - intros i Hi. rewrite (proportional i Hi), (equal i Hi). field. lra.
Qed.

Lemma window_at_least_one W : smallest_window W -> 1 <= INR W.
Proof. intros [[H _] _]. replace 1 with (INR 1) by reflexivity. apply le_INR. lia. Qed.

(** FedFix. *)
Section Fixed_intervals.
Context (interval : R) (fixed : fixed_intervals interval).
Notation N_i := (interval_count interval).

Lemma instant_of n : instant n = INR n * interval.
Proof.
  unfold instant. rewrite (sum_ext _ _ (fun _ => interval)) by (intros; apply fixed). apply sum_const.
Qed.

Lemma ceiling_bounds x : x <= IZR (ceiling x) < x + 1.
Proof. unfold ceiling. rewrite minus_IZR. destruct (archimed (- x)). lra. Qed.

Lemma interval_count_bounds i : (i < number C)%nat ->
  (0 < N_i i)%nat /\ time_of A i <= INR (N_i i) * interval /\ INR (N_i i) * interval < time_of A i + interval.
Proof.
  intros Hi. unfold interval_count. pose proof (interval_positive _ fixed) as Hd.
  pose proof (times_positive A i Hi) as Ht. set (x := time_of A i / interval).
  assert (Hx : 0 < x) by (apply Rdiv_lt_0_compat; assumption).
  assert (Hxd : time_of A i = x * interval) by (unfold x; field; lra).
  destruct (ceiling_bounds x) as [low high].
  assert (Hz : (0 < ceiling x)%Z) by (apply lt_IZR; lra).
  assert (Hn : INR (Z.to_nat (ceiling x)) = IZR (ceiling x)) by (rewrite INR_IZR_INZ, Z2Nat.id; [reflexivity | lia]).
  rewrite Hn, Hxd. split; [lia |]. split; [apply Rmult_le_compat_r; lra |].
  replace (x * interval + interval) with ((x + 1) * interval) by ring. apply Rmult_lt_compat_r; lra.
Qed.

Lemma reports_by_age n i : (i < number C)%nat -> (reports A n i = true <-> (N_i i <= S (age n i))%nat).
Proof.
  intros Hi. rewrite (who_is_done _ fixed n i Hi). unfold remaining. rewrite !instant_of.
  rewrite minus_INR by apply age_below. pose proof (interval_positive _ fixed) as Hd.
  destruct (interval_count_bounds i Hi) as [_ [low high]].
  replace (INR n * interval - (INR n - INR (age n i)) * interval) with (INR (age n i) * interval) by ring.
  split; intros H.
  - assert (INR (N_i i) < INR (S (S (age n i)))).
    { rewrite !S_INR. apply Rmult_lt_reg_r with interval; lra. }
    assert (N_i i < S (S (age n i)))%nat by (apply INR_lt; assumption). lia.
  - apply le_INR in H. rewrite S_INR in H. apply Rmult_le_compat_r with (r := interval) in H; lra.
Qed.

Lemma age_by_number n i : (i < number C)%nat -> age n i = (n mod N_i i)%nat.
Proof.
  intros Hi. pose proof (proj1 (interval_count_bounds i Hi)) as HN.
  induction n; [symmetry; apply Nat.mod_0_l; lia |]. cbn [age].
  pose proof (Nat.mod_upper_bound n (N_i i) ltac:(lia)) as below.
  pose proof (Nat.div_mod n (N_i i) ltac:(lia)) as whole.
  destruct (reports A n i) eqn:reported.
  - apply reports_by_age in reported; auto. rewrite IHn in reported.
    apply (Nat.mod_unique _ _ (S (n / N_i i))); lia.
  - assert (not : ~ (N_i i <= S (age n i))%nat).
    { intros H. apply reports_by_age in H; auto. congruence. }
    rewrite IHn in *. apply (Nat.mod_unique _ _ (n / N_i i)); lia.
Qed.

Lemma reports_by_number n i : (i < number C)%nat -> reports A n i = (N_i i <=? S (n mod N_i i))%nat.
Proof.
  intros Hi. apply eq_true_iff_eq. rewrite Nat.leb_le, <- age_by_number by assumption. apply reports_by_age; auto.
Qed.

Lemma duration_is_interval n : duration A n - interval = 0.
Proof. rewrite (of_interval _ fixed). ring. Qed.

Lemma intervals_passed : interval * N_of - clock_time = 0.
Proof. unfold clock_time. rewrite instant_of. unfold N_of. ring. Qed.

Lemma interval_at_most_longest i : (i < number C)%nat -> report_interval interval i <= longest_report_interval interval.
Proof. intros Hi. apply (Run.largest_at_least _ (report_interval interval) i Hi). Qed.

Lemma report_interval_at_least_one i : (i < number C)%nat -> 1 <= report_interval interval i.
Proof.
  intros Hi. unfold report_interval. replace 1 with (INR 1) by reflexivity. apply le_INR.
  pose proof (interval_count_bounds i Hi). lia.
Qed.

Lemma stale_at_most : largest_staleness <= longest_report_interval interval - 1.
Proof.
  pose proof (several C) as H0. pose proof (interval_at_most_longest O H0) as large.
  pose proof (report_interval_at_least_one O H0) as one.
  apply Run.largest_at_most; [lra |]. intros n Hn. apply Run.largest_at_most; [lra |]. intros i Hi.
  rewrite age_by_number by assumption. pose proof (proj1 (interval_count_bounds i Hi)) as HN.
  pose proof (Nat.mod_upper_bound n (N_i i) ltac:(lia)) as below.
  apply Nat.le_succ_l, le_INR in below. rewrite S_INR in below.
  pose proof (interval_at_most_longest i Hi). unfold report_interval in *. lra.
Qed.

Context (cycles : whole_cycles (heard_after interval)).

(** In a whole cycle each client reports in every N_i-th update. *)
Lemma reports_in_cycles i : (i < number C)%nat -> report_interval interval i * report_count i - N_of = 0.
Proof.
  intros Hi. rewrite (cycles i Hi). unfold heard_after. pose proof intervals_passed as passed.
  replace clock_time with (interval * N_of) by lra. pose proof (report_interval_at_least_one i Hi).
  pose proof (interval_positive _ fixed). field. lra.
Qed.

Lemma cycles_divide i : (i < number C)%nat -> Nat.divide (N_i i) (updates A).
Proof.
  intros Hi. exists (count (updates A) (fun n => reports A n i)). apply INR_eq. rewrite mult_INR.
  pose proof (reports_in_cycles i Hi) as H. unfold report_interval, report_count, N_of in H. lra.
Qed.

Lemma at_most_updates i : (i < number C)%nat -> (N_i i <= updates A)%nat.
Proof. intros Hi. apply Nat.divide_pos_le; [apply some_updates | apply cycles_divide; assumption]. Qed.

(** Each client has reported once at least: with a model that N_i - 1 updates came after. *)
Lemma stale_exactly : largest_staleness - longest_report_interval interval + 1 = 0.
Proof.
  enough (longest_report_interval interval <= largest_staleness + 1) by (pose proof stale_at_most; lra).
  apply Run.largest_at_most; [pose proof (largest_nonneg (updates A)
    (fun n => Run.largest (number C) (fun i => INR (age n i)))); unfold largest_staleness; lra |].
  intros i Hi. pose proof (at_most_updates i Hi) as below. pose proof (proj1 (interval_count_bounds i Hi)) as HN.
  assert (last : (N_i i - 1 < updates A)%nat) by lia.
  pose proof (Run.largest_at_least _ (fun n => Run.largest (number C) (fun i => INR (age n i))) _ last) as of_update.
  pose proof (Run.largest_at_least _ (fun j => INR (age (N_i i - 1) j)) i Hi) as of_client. cbv beta in *.
  rewrite age_by_number, Nat.mod_small, minus_INR in of_client by (assumption || lia). simpl (INR 1) in of_client.
  unfold report_interval, largest_staleness. lra.
Qed.

(** All clients report when a whole cycle ends. *)
Lemma last_reports i : (i < number C)%nat -> reports A (updates A - 1) i = true.
Proof.
  intros Hi. rewrite reports_by_number by assumption. apply Nat.leb_le.
  destruct (cycles_divide i Hi) as [k Hk]. pose proof (proj1 (interval_count_bounds i Hi)) as HN.
  pose proof (some_updates A) as HU. destruct k; [lia |].
  rewrite <- (Nat.mod_unique (updates A - 1) (N_i i) k (N_i i - 1)); nia.
Qed.

Lemma count_all n f : (forall i, (i < n)%nat -> f i = true) -> count n f = n.
Proof. induction n; simpl; intros H; auto. rewrite H, IHn by auto. reflexivity. Qed.

Lemma pairing_of_cycles : several_clients -> weight_pairing - 1 = 0.
Proof.
  intros several. apply Rminus_diag_eq, Rle_antisym.
  - apply Run.largest_at_most; [lra |]. intros n _. destruct (1 <? _)%nat; lra.
  - pose proof (some_updates A). assert (last : (updates A - 1 < updates A)%nat) by lia.
    pose proof (Run.largest_at_least _
      (fun n => if (1 <? count (number C) (reports A n))%nat then 1 else 0) _ last) as found. cbv beta in found.
    rewrite count_all in found by (intros; apply last_reports; assumption).
    unfold several_clients in several.
    replace (1 <? number C)%nat with true in found by (symmetry; apply Nat.ltb_lt; lia). exact found.
Qed.

Lemma excess_of_cycles : several_clients -> reporting_excess - 0 = 0.
Proof.
  intros several. pose proof (pairing_of_cycles several) as one. unfold reporting_excess.
  rewrite (largest_ext _ _ (fun _ => 0)).
  - rewrite largest_const; [lra | apply some_updates | lra].
  - intros n _. rewrite (largest_ext _ _ (fun _ => 0)); [apply largest_const; [apply Clients.several | lra] |].
    intros i _. destruct (Req_EM_T _ _); [reflexivity |]. unfold weight in *. destruct (reports A n i); [nra | lra].
Qed.

Lemma lcm_of_least n f k : (forall i, (i < n)%nat -> Nat.divide (f i) k) -> Nat.divide (lcm_of n f) k.
Proof. induction n; simpl; intros H; [apply Nat.divide_1_l |]. apply Nat.lcm_least; auto. Qed.

Lemma divides_lcm_of n f i : (i < n)%nat -> Nat.divide (f i) (lcm_of n f).
Proof.
  induction n; intros Hi; [lia |]. cbn [lcm_of]. destruct (Nat.eq_dec i n) as [-> | other].
  - apply Nat.divide_lcm_r.
  - apply Nat.divide_trans with (2 := Nat.divide_lcm_l _ _), IHn. lia.
Qed.

Lemma lcm_positive : (0 < lcm_of (number C) N_i)%nat.
Proof.
  destruct (lcm_of_least (number C) N_i (updates A) cycles_divide) as [k Hk]. pose proof (some_updates A). nia.
Qed.

Lemma lcm_is_window : is_window (lcm_of (number C) N_i).
Proof.
  split; [apply lcm_positive |].
  destruct (lcm_of_least (number C) N_i (updates A) cycles_divide) as [k Hk]. exists k. split; [lia |].
  intros b i _ Hi. apply sum_ext. intros n _. unfold weight. rewrite !reports_by_number by assumption.
  destruct (divides_lcm_of (number C) N_i i Hi) as [m Hm]. rewrite Hm.
  pose proof (proj1 (interval_count_bounds i Hi)).
  replace (b * (m * N_i i) + n)%nat with (n + (b * m) * N_i i)%nat by ring. rewrite Nat.mod_add by lia. reflexivity.
Qed.

Lemma divides_window W i : positive_weights -> is_window W -> (i < number C)%nat -> Nat.divide (N_i i) W.
Proof.
  intros weights [HW [blocks [Hall same]]] Hi. pose proof (some_updates A) as HU.
  assert (total : sum (updates A) (fun n => weight n i) = INR blocks * sum W (fun n => weight n i)).
  { rewrite Hall, sum_of_blocks, <- sum_const. apply sum_ext. intros b Hb. apply same; assumption. }
  rewrite !sum_of_weights in total. set (c := count W (fun n => reports A n i)) in *.
  assert (counts : count (updates A) (fun n => reports A n i) = (blocks * c)%nat).
  { apply INR_eq. rewrite mult_INR. pose proof (weights i Hi).
    apply Rmult_eq_reg_l with (weight_of A i); lra. }
  assert (whole : updates A = (N_i i * (blocks * c))%nat).
  { rewrite <- counts. apply INR_eq. rewrite mult_INR. pose proof (reports_in_cycles i Hi) as H.
    unfold report_interval, report_count, N_of in H. lra. }
  exists c. nia.
Qed.

Lemma window_of_cycles W : positive_weights -> smallest_window W -> INR W - common_report_interval interval = 0.
Proof.
  intros weights [window least]. apply Rminus_diag_eq. unfold common_report_interval. f_equal.
  apply Nat.le_antisymm; [apply least, lcm_is_window |].
  apply Nat.divide_pos_le; [apply (proj1 window) |].
  apply lcm_of_least. intros; apply divides_window; assumption.
Qed.

Lemma longest_divides : 0 <= common_report_interval interval - longest_report_interval interval.
Proof.
  enough (longest_report_interval interval <= common_report_interval interval) by lra.
  apply Run.largest_at_most; [apply pos_INR |]. intros i Hi. apply le_INR.
  apply Nat.divide_pos_le; [apply lcm_positive | apply divides_lcm_of; assumption].
Qed.
End Fixed_intervals.

Lemma lcm_at_most n f b : 0 <= b -> (forall i, (i < n)%nat -> INR (f i) <= b /\ (0 < f i)%nat) -> INR (lcm_of n f) <= b ^ n.
Proof.
  intros Hb. induction n; intros H; [simpl; lra |]. cbn [lcm_of pow]. destruct (H n ltac:(lia)) as [below positive].
  apply Rle_trans with (INR (f n * lcm_of n f)).
  - apply le_INR. destruct (Nat.eq_dec (lcm_of n f) 0) as [-> | other].
    + rewrite Nat.lcm_0_l. lia.
    + apply Nat.divide_pos_le; [nia |]. apply Nat.lcm_least; [exists (f n) | exists (lcm_of n f)]; ring.
  - rewrite mult_INR. apply Rmult_le_compat; try apply pos_INR; auto.
Qed.

Lemma intervals_at_most interval : fixed_intervals interval ->
  0 <= longest_report_interval interval ^ number C - common_report_interval interval.
Proof.
  intros fixed. enough (common_report_interval interval <= longest_report_interval interval ^ number C) by lra.
  apply lcm_at_most; [apply largest_nonneg |]. intros i Hi. split.
  - apply interval_at_most_longest; assumption.
  - apply (interval_count_bounds interval fixed i Hi).
Qed.
End Definitions.

(** Sums over the clients that are the same sum of multiples. *)
Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intros H. rewrite (sum_ext _ _ (fun _ => 0) H), sum_const. ring. Qed.

Ltac by_each_client := rewrite <- ?sum_scale, <- ?sum_plus; apply sum_ext.
