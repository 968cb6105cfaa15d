(** Asynchronous FedAvg: how often clients have reported after a time that all of their times divide.

    Fraboni et al. (2022), Section 4.3 and equation (35). *)

From Coq Require Import Reals Lra Lia Arith Bool.
Require Import Space Clients Schedule.
Require Run.
Open Scope R_scope.

Lemma equal_by_sum n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n g <= sum n f ->
  forall i, (i < n)%nat -> f i = g i.
Proof.
  induction n; intros below H i Hi; [lia |]. cbn [sum] in H. pose proof (below n ltac:(lia)).
  assert (sum n f <= sum n g) by (apply sum_le; auto).
  destruct (Nat.eq_dec i n) as [-> | other]; [lra |]. apply IHn; [auto | lra | lia].
Qed.

Lemma natural_sum n f : (forall i, (i < n)%nat -> exists k, f i = INR k) -> exists k, sum n f = INR k.
Proof.
  induction n; intros H; [exists O; reflexivity |]. destruct (IHn ltac:(auto)) as [a Ha].
  destruct (H n ltac:(lia)) as [b Hb]. exists (a + b)%nat. cbn [sum]. rewrite Ha, Hb, plus_INR. reflexivity.
Qed.

Section Asynchronous.
Context (A : schedule) (async : asynchronous A).
Notation C := (clients_of A).
Notation reported n i := (INR (count n (fun m => reports A m i))).

(** The model that a client works on was sent when it reported last. *)
Lemma last_start n i : (i < number C)%nat -> instant A (n - age A n i) = reported n i * time_of A i.
Proof.
  intros Hi. induction n; [unfold instant; simpl; ring |]. cbn [age count]. rewrite plus_INR.
  destruct (reports A n i) eqn:done.
  - pose proof (only_done A async n i Hi done) as H. unfold remaining in H. rewrite IHn in H.
    rewrite Nat.sub_0_r. unfold instant in *. cbn [sum]. simpl INR. lra.
  - rewrite Nat.sub_succ, IHn. simpl INR. ring.
Qed.

Lemma next_report n i : (i < number C)%nat -> instant A (S n) <= (reported n i + 1) * time_of A i.
Proof.
  intros Hi. pose proof (first_done A async n i Hi) as H. unfold remaining in H. rewrite (last_start n i Hi) in H.
  unfold instant in *. cbn [sum]. lra.
Qed.

Lemma not_late n i : (i < number C)%nat -> instant A n <= (reported n i + 1) * time_of A i.
Proof.
  intros Hi. pose proof (times_positive A i Hi). destruct n.
  - unfold instant. simpl. lra.
  - pose proof (next_report n i Hi). enough (reported n i <= reported (S n) i) by nra.
    apply le_INR. cbn [count]. lia.
Qed.

Lemma duration_nonneg n : 0 <= duration A n.
Proof.
  destruct (somebody_done A async n) as [i [Hi done]]. rewrite <- (only_done A async n i Hi done).
  unfold remaining. rewrite (last_start n i Hi). pose proof (not_late n i Hi). lra.
Qed.

Lemma not_early n i : (i < number C)%nat -> reported n i * time_of A i <= instant A n.
Proof.
  intros Hi. rewrite <- (last_start n i Hi). pose proof (sum_split (n - age A n i) (age A n i) (duration A)) as split.
  rewrite Nat.sub_add in split by apply age_below.
  unfold instant. rewrite split.
  enough (0 <= sum (age A n i) (fun m => duration A (n - age A n i + m))) by lra.
  apply sum_nonneg. intros; apply duration_nonneg.
Qed.

Definition whole (t : R) : Prop := forall i, (i < number C)%nat -> exists k, t = INR k * time_of A i.

Lemma a_period nu i : least_period A nu -> (i < number C)%nat -> 0 <= nu - time_of A i.
Proof.
  intros [[positive divides] _] Hi. destruct (divides i Hi) as [k ->]. pose proof (times_positive A i Hi).
  assert (1 <= INR k); [| nra]. replace 1 with (INR 1) by reflexivity. apply le_INR.
  destruct k; [simpl in positive; lra | lia].
Qed.

Lemma period_of_equals nu i : identical_times A -> least_period A nu -> (i < number C)%nat -> nu - time_of A i = 0.
Proof.
  intros same period Hi. pose proof (a_period nu i period Hi). destruct period as [_ least].
  enough (nu <= time_of A i) by lra. apply least. split; [apply times_positive; assumption |].
  intros j Hj. exists 1%nat. rewrite (same i Hi), (same j Hj). simpl. ring.
Qed.

Lemma multiple_of_period nu t : least_period A nu -> 0 <= t -> whole t -> exists n, t = INR n * nu.
Proof.
  intros [[positive divides] least] Ht Hwhole. destruct (archimed (t / nu)) as [above _].
  assert (0 <= t / nu) by (apply Rmult_le_pos; [assumption | apply Rlt_le, Rinv_0_lt_compat; assumption]).
  assert (Hn : INR (Z.to_nat (up (t / nu))) * nu > t).
  { rewrite INR_IZR_INZ, Z2Nat.id by (apply le_IZR; lra).
    replace t with (t / nu * nu) at 2 by (field; lra). apply Rmult_lt_compat_r; lra. }
  clear above. set (n := Z.to_nat _) in Hn. clearbody n.
  match goal with bound : 0 <= t / nu |- _ => clear bound end.
  revert t Ht Hwhole Hn. induction n; intros t Ht Hwhole Hn; [simpl in Hn; lra |].
  destruct (Rlt_le_dec t nu) as [below | above].
  - exists O. simpl. destruct (Rle_lt_or_eq_dec 0 t Ht) as [some | <-]; [| lra].
    pose proof (least t (conj some Hwhole)). lra.
  - destruct (IHn (t - nu)) as [k Hk]; [lra | | rewrite S_INR in Hn; lra | exists (S k); rewrite S_INR; lra].
    intros i Hi. destruct (Hwhole i Hi) as [a Ha], (divides i Hi) as [b Hb]. exists (a - b)%nat.
    rewrite minus_INR; [lra |]. apply INR_le. pose proof (times_positive A i Hi). nra.
Qed.

(** Of whole times, the product is divided by each of them. *)
Definition whole_times : Prop := forall i, (i < number C)%nat -> exists k, time_of A i = INR k.

Lemma product_of_others i : whole_times -> (i < number C)%nat -> forall n, (n <= number C)%nat ->
  exists q, (0 < q)%nat /\ INR q <= slowest_time A ^ (if (i <? n)%nat then n - 1 else n) /\
    forall j, (j < n)%nat -> exists k, INR q * time_of A i = INR k * time_of A j.
Proof.
  intros whole_all Hi. induction n; intros Hn.
  { exists 1%nat. split; [lia |]. split; [simpl; lra | intros; lia]. }
  destruct (IHn ltac:(lia)) as [q [Hq [below divides]]]. destruct (Nat.eq_dec i n) as [same | other].
  - exists q. split; [assumption |]. subst n. rewrite Nat.ltb_irrefl in below.
    replace (i <? S i)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
    replace (S i - 1)%nat with i by lia. split; [assumption |]. intros j Hj.
    destruct (Nat.eq_dec j i) as [-> |]; [exists q; reflexivity | apply divides; lia].
  - destruct (whole_all n ltac:(lia)) as [t Ht], (whole_all i Hi) as [u Hu].
    pose proof (times_positive A n ltac:(lia)) as positive. rewrite Ht in positive.
    assert (0 < t)%nat by (apply INR_lt; assumption). exists (q * t)%nat. split; [nia |]. split.
    + replace (if (i <? S n)%nat then (S n - 1)%nat else S n) with (S (if (i <? n)%nat then n - 1 else n))
        by (destruct (Nat.ltb_spec i n), (Nat.ltb_spec i (S n)); lia).
      rewrite mult_INR. cbn [pow]. rewrite Rmult_comm. pose proof (slower A n ltac:(lia)).
      apply Rmult_le_compat; try apply pos_INR; [lra | assumption].
    + intros j Hj. destruct (Nat.eq_dec j n) as [-> | before].
      * exists (q * u)%nat. rewrite !mult_INR, Hu, Ht. ring.
      * destruct (divides j ltac:(lia)) as [k Hk]. exists (k * t)%nat. rewrite !mult_INR.
        replace (INR k * INR t * time_of A j) with (INR k * time_of A j * INR t) by ring. rewrite <- Hk. ring.
Qed.

Lemma period_at_most nu i : whole_times -> least_period A nu -> (i < number C)%nat ->
  0 <= time_of A i * slowest_time A ^ (number C - 1) - nu.
Proof.
  intros whole_all [_ least] Hi. destruct (product_of_others i whole_all Hi (number C) (le_n _)) as [q [Hq [below divides]]].
  replace (i <? number C)%nat with true in below by (symmetry; apply Nat.ltb_lt; assumption).
  pose proof (times_positive A i Hi). assert (0 < INR q) by (apply lt_0_INR; assumption).
  assert (nu <= INR q * time_of A i) by (apply least; split; [nra | assumption]). nra.
Qed.

Lemma a_period_of_slowest nu : least_period A nu -> 0 <= nu - slowest_time A.
Proof.
  intros period. enough (slowest_time A <= nu) by lra. apply Run.largest_at_most.
  - apply Rlt_le, period.
  - intros i Hi. pose proof (a_period nu i period Hi). lra.
Qed.

Section Alone.
Context (alone : one_at_a_time A).

Lemma one_report_per_update n : (n <= updates A)%nat -> sum (number C) (fun i => reported n i) = INR n.
Proof.
  intros Hn. rewrite (sum_ext _ _ (fun i => sum n (fun m => if reports A m i then 1 else 0)))
    by (intros; apply count_as_sum).
  rewrite sum_swap, (sum_ext _ _ (fun _ => 1)); [rewrite sum_const; ring |].
  intros m Hm. rewrite <- (count_as_sum (number C) (reports A m)), alone by lia. reflexivity.
Qed.

Lemma total_of t : sum (number C) (fun i => t / time_of A i) = t * update_rate A.
Proof. unfold update_rate. rewrite <- sum_scale. apply sum_ext. intros. unfold Rdiv. ring. Qed.

(** After as many updates as there are reports in a time, they are the reports of that time. *)
Lemma reports_by t n : whole t -> INR n = t * update_rate A -> (n <= updates A)%nat ->
  forall i, (i < number C)%nat -> reported n i = t / time_of A i.
Proof.
  intros Hwhole Hn Hu. pose proof (one_report_per_update n Hu) as total. pose proof (total_of t) as all.
  assert (turned : forall i a, (i < number C)%nat -> a * time_of A i <= t -> a <= t / time_of A i).
  { intros i a Hi H. pose proof (times_positive A i Hi). apply Rmult_le_reg_r with (time_of A i); [lra |].
    replace (t / time_of A i * time_of A i) with t by (field; lra). lra. }
  assert (enough : forall i, (i < number C)%nat -> t / time_of A i <= reported n i).
  { intros i Hi. destruct (Rlt_le_dec (reported n i) (t / time_of A i)) as [few | most]; [| lra].
    exfalso. pose proof (times_positive A i Hi). destruct (Hwhole i Hi) as [k Hk].
    assert (next : reported n i + 1 <= INR k).
    { rewrite <- S_INR. apply le_INR, INR_lt.
      replace (INR k) with (t / time_of A i) by (rewrite Hk; field; lra). assumption. }
    enough (reported n i = t / time_of A i) by lra.
    apply (equal_by_sum (number C) (fun i => reported n i) (fun i => t / time_of A i)); [| lra | assumption].
    intros j Hj. apply turned; [assumption |]. pose proof (not_early n j Hj). pose proof (not_late n i Hi). nra. }
  intros i Hi. symmetry.
  apply (equal_by_sum (number C) (fun i => t / time_of A i) (fun i => reported n i)); [assumption | lra | assumption].
Qed.

Section Windows.
Context (cycles : whole_cycles A (time_of A)) (nu : R) (period : least_period A nu).

Lemma clock_is_whole : whole (clock_time A).
Proof.
  intros i Hi. eexists. pose proof (reports_per_time A cycles i Hi) as H. unfold report_count in H.
  instantiate (1 := count (updates A) (fun n => reports A n i)). lra.
Qed.

Lemma all_updates : INR (updates A) = clock_time A * update_rate A.
Proof.
  rewrite <- total_of, <- (one_report_per_update (updates A) (le_n _)). apply sum_ext. intros i Hi. apply (cycles i Hi).
Qed.

Lemma reports_in_a_period_natural : exists w, nu * update_rate A = INR w.
Proof.
  rewrite <- total_of. apply natural_sum. intros i Hi. destruct period as [[_ divides] _].
  destruct (divides i Hi) as [k Hk]. exists k. rewrite Hk. field. pose proof (times_positive A i Hi). lra.
Qed.

Lemma period_is_window w : nu * update_rate A = INR w -> is_window A w.
Proof.
  intros Hw. pose proof (rate_positive A) as rate. destruct period as [[positive divides] _].
  destruct (multiple_of_period nu (clock_time A) period) as [q Hq].
  { apply Rlt_le, time_has_passed; assumption. }
  { apply clock_is_whole. }
  assert (whole_run : updates A = (w * q)%nat).
  { apply INR_eq. rewrite mult_INR, all_updates, Hq, <- Hw. ring. }
  pose proof (some_updates A). split; [destruct w; lia |]. exists q. split; [assumption |].
  assert (at_end : forall b i, (b <= q)%nat -> (i < number C)%nat ->
    reported (b * w) i = INR b * (nu / time_of A i)).
  { intros b i Hb Hi. rewrite (reports_by (INR b * nu)); try assumption.
    - unfold Rdiv. ring.
    - intros j Hj. destruct (divides j Hj) as [k Hk]. exists (b * k)%nat. rewrite mult_INR, Hk. ring.
    - rewrite mult_INR, <- Hw. ring.
    - rewrite whole_run, Nat.mul_comm. apply Nat.mul_le_mono_l; assumption. }
  assert (each : forall b i, (b < q)%nat -> (i < number C)%nat ->
    sum w (fun n => weight A (b * w + n) i) = weight_of A i * (nu / time_of A i)).
  { intros b i Hb Hi. pose proof (sum_split (b * w) w (fun n => weight A n i)) as both. rewrite !sum_of_weights in both.
    replace (b * w + w)%nat with (S b * w)%nat in both by ring.
    rewrite !at_end in both by (assumption || lia). rewrite S_INR in both. lra. }
  intros b i Hb Hi. rewrite (each b i Hb Hi), <- (each O i) by (lia || assumption). reflexivity.
Qed.

Lemma window_of_period W : positive_weights A -> smallest_window A W -> INR W - reports_in_a_period A nu = 0.
Proof.
  intros weights [[HW [blocks [Hall same]]] least]. destruct reports_in_a_period_natural as [w Hw].
  pose proof (in_a_period A nu). apply Rminus_diag_eq. replace (reports_in_a_period A nu) with (INR w) by lra.
  apply Rle_antisym; [apply le_INR, least, period_is_window; assumption |]. rewrite <- Hw.
  assert (some : (0 < blocks)%nat) by (pose proof (some_updates A); destruct blocks; lia).
  assert (below : (W <= updates A)%nat) by (rewrite Hall; destruct blocks; nia).
  apply lt_INR in some. simpl in some.
  assert (clock : forall i, (i < number C)%nat -> clock_time A / INR blocks = reported W i * time_of A i).
  { intros i Hi. pose proof (weights i Hi). pose proof (reports_per_time A cycles i Hi) as H1.
    assert (total : sum (updates A) (fun n => weight A n i) = INR blocks * sum W (fun n => weight A n i)).
    { rewrite Hall, sum_of_blocks, <- sum_const. apply sum_ext. intros b Hb. apply same; assumption. }
    rewrite !sum_of_weights in total. unfold report_count in H1.
    assert (counts : reported (updates A) i = INR blocks * reported W i).
    { apply Rmult_eq_reg_l with (weight_of A i); lra. }
    rewrite counts in H1. apply Rmult_eq_reg_l with (INR blocks); [| lra]. field_simplify; lra. }
  assert (nu <= clock_time A / INR blocks).
  { apply (proj2 period). split.
    - apply Rdiv_lt_0_compat; [apply time_has_passed; assumption | assumption].
    - intros i Hi. eexists. apply (clock i Hi). }
  rewrite <- (one_report_per_update W below).
  rewrite (sum_ext _ (fun i => reported W i) (fun i => clock_time A / INR blocks / time_of A i)).
  - rewrite total_of. pose proof (rate_positive A). nra.
  - intros i Hi. rewrite (clock i Hi). field. pose proof (times_positive A i Hi). lra.
Qed.
End Windows.
End Alone.
End Asynchronous.
