(** Asynchronous FedAvg: how old models get, where clients that tie report in order.

    Fraboni et al. (2022), (34) and the case of clients that report one at a time. *)

From Coq Require Import Reals Lra Lia Arith Bool.
Require Import Space Clients Schedule Cycles.
Require Run.
Open Scope R_scope.

Section Definitions.
Context (A : schedule).
Notation C := (clients_of A).
Notation reported n i := (INR (count n (fun m => reports A m i))).

(** max_i sum_{j <> i} ceil(T_i / T_j), and ceil of the slowest over the fastest. *)
Definition other_reports (i : nat) : R :=
  sum (number C) (fun j => if Nat.eqb j i then 0 else IZR (ceiling (time_of A i / time_of A j))).
Definition most_other_reports : R := Run.largest (number C) other_reports.
Definition speed_ratio_above : R := IZR (ceiling (slowest_time A / fastest_time A)).

Lemma ratio_below : 0 <= - speed_ratio_above + 1 + slowest_time A / fastest_time A.
Proof. unfold speed_ratio_above. pose proof (ceiling_bounds (slowest_time A / fastest_time A)). lra. Qed.

Lemma ceiling_grows x y : x <= y -> IZR (ceiling x) <= IZR (ceiling y).
Proof.
  intros H. apply IZR_le. pose proof (ceiling_bounds x). pose proof (ceiling_bounds y).
  assert (IZR (ceiling x) < IZR (ceiling y + 1)) by (rewrite plus_IZR; lra).
  apply lt_IZR in H2. lia.
Qed.

Lemma ratio_positive : 0 <= speed_ratio_above.
Proof.
  pose proof (ceiling_bounds (slowest_time A / fastest_time A)). unfold speed_ratio_above.
  pose proof (Rdiv_lt_0_compat _ _ (slowest_positive A) (fastest_positive A)). lra.
Qed.

Lemma ratios_below : 0 <= speed_ratio_above * (M_of A - 1) - most_other_reports.
Proof.
  pose proof ratio_positive. pose proof (M_at_least_one A).
  enough (most_other_reports <= speed_ratio_above * (M_of A - 1)) by lra.
  apply Run.largest_at_most; [apply Rmult_le_pos; lra |]. intros i Hi. unfold other_reports.
  apply Rle_trans with (sum (number C) (fun j => speed_ratio_above - (if Nat.eqb j i then speed_ratio_above else 0))).
  - apply sum_le. intros j Hj. destruct (Nat.eqb j i); [lra |]. rewrite Rminus_0_r. apply ceiling_grows.
    pose proof (slower A i Hi). pose proof (faster A j Hj). pose proof (fastest_positive A).
    pose proof (times_positive A i Hi). unfold Rdiv. apply Rmult_le_compat; try lra.
    + apply Rlt_le, Rinv_0_lt_compat, times_positive. assumption.
    + apply Rinv_le_contravar; lra.
  - rewrite sum_minus, sum_const, (sum_single _ _ i Hi); [rewrite Nat.eqb_refl; unfold M_of; lra |].
    intros j _ other. destruct (Nat.eqb_spec j i); [contradiction | reflexivity].
Qed.

Lemma ratio_of_equals : identical_times A -> speed_ratio_above - 1 = 0.
Proof.
  intros same. pose proof (several C) as H. pose proof (times_positive A O H) as positive.
  assert (fastest_time A = time_of A O) as fast.
  { apply Rle_antisym; [apply smallest_at_most; assumption |]. apply smallest_at_least; [assumption |].
    intros i Hi. rewrite (same i Hi). lra. }
  assert (slowest_time A = time_of A O) as slow.
  { unfold slowest_time. rewrite (largest_ext _ _ (fun _ => time_of A O)) by assumption.
    apply largest_const; [assumption | lra]. }
  unfold speed_ratio_above. rewrite fast, slow. unfold Rdiv. rewrite Rinv_r by lra.
  pose proof (ceiling_bounds 1) as [below above]. set (c := ceiling 1) in *.
  enough (c = 1%Z) as -> by lra. apply Z.le_antisymm.
  - apply Zlt_succ_le, lt_IZR. unfold Z.succ. rewrite plus_IZR. lra.
  - apply le_IZR. lra.
Qed.

Lemma idle n i m : (n - age A n i <= m < n)%nat -> reports A m i = false.
Proof.
  induction n as [| n IH]; intros H; [lia |]. cbn [age] in H. destruct (reports A n i) eqn:done; [lia |].
  destruct (Nat.eq_dec m n) as [-> |]; [assumption |]. apply IH. pose proof (age_below A n i). lia.
Qed.

Lemma reported_before n i : (age A n i < n)%nat -> reports A (n - age A n i - 1) i = true.
Proof.
  induction n as [| n IH]; intros H; [lia |]. cbn [age] in *. destruct (reports A n i) eqn:done.
  - replace (S n - 0 - 1)%nat with n by lia. assumption.
  - replace (S n - S (age A n i) - 1)%nat with (n - age A n i - 1)%nat by lia. apply IH. lia.
Qed.

Lemma last_report f a d : (count a f < count (a + d) f)%nat ->
  exists m, (a <= m < a + d)%nat /\ f m = true /\ count (S m) f = count (a + d) f.
Proof.
  induction d as [| d IH]; intros H; [rewrite Nat.add_0_r in H; lia |].
  rewrite Nat.add_succ_r in *. destruct (f (a + d)%nat) eqn:here.
  - exists (a + d)%nat. repeat split; [lia | lia | assumption].
  - cbn [count] in *. rewrite here in *. cbn [Nat.add] in *. destruct (IH H) as [m [Hm [done same]]].
    exists m. repeat split; [lia | lia | assumption | exact same].
Qed.

Lemma count_grows f a d : (count a f <= count (a + d) f)%nat.
Proof. induction d as [| d IH]; [rewrite Nat.add_0_r; lia |]. rewrite Nat.add_succ_r. cbn [count]. lia. Qed.

Lemma count_while_idle f a d : (forall m, (a <= m < a + d)%nat -> f m = false) -> count (a + d) f = count a f.
Proof.
  induction d as [| d IH]; intros H; [rewrite Nat.add_0_r; reflexivity |].
  rewrite Nat.add_succ_r. cbn [count]. rewrite (H (a + d)%nat) by lia. apply IH. intros. apply H. lia.
Qed.

Section Asynchronous.
Context (async : asynchronous A).

Lemma report_instant m j : (j < number C)%nat -> reports A m j = true -> instant A (S m) = reported (S m) j * time_of A j.
Proof.
  intros Hj done. rewrite <- (last_start A async (S m) j Hj). f_equal. cbn [age]. rewrite done. lia.
Qed.

Lemma time_left m i : (i < number C)%nat -> remaining A m i = (reported m i + 1) * time_of A i - instant A m.
Proof. intros Hi. unfold remaining. rewrite (last_start A async m i Hi). ring. Qed.

Lemma reports_while_working n i j : (i < number C)%nat -> (j < number C)%nat -> i <> j ->
  reported n j - reported (n - age A n i) j <= IZR (ceiling (time_of A i / time_of A j)).
Proof.
  intros Hi Hj other. pose proof (times_positive A i Hi) as Ti. pose proof (times_positive A j Hj) as Tj.
  set (a := age A n i). pose proof (age_below A n i) as Ha. fold a in Ha. set (p := (n - a)%nat).
  assert (np : (p + a = n)%nat) by (unfold p; lia).
  pose proof (ceiling_bounds (time_of A i / time_of A j)) as [above _].
  destruct (Nat.le_gt_cases (count n (fun m => reports A m j)) (count p (fun m => reports A m j))) as [none | some].
  { apply le_INR in none. assert (0 < time_of A i / time_of A j) by (apply Rdiv_lt_0_compat; assumption). lra. }
  assert (idle_i : forall m, (p <= m < n)%nat -> reports A m i = false) by (intros m Hm; apply (idle n i m); exact Hm).
  assert (same_i : forall m, (p <= m <= n)%nat -> reported m i = reported p i).
  { intros m Hm. f_equal. replace m with (p + (m - p))%nat by lia. apply (count_while_idle (fun m => reports A m i)).
    intros; apply idle_i; lia. }
  assert (started : instant A p = reported p i * time_of A i).
  { unfold p, a. rewrite (last_start A async n i Hi). f_equal. apply same_i. lia. }
  destruct (last_report (fun m => reports A m j) p a) as [m [Hm [done same_j]]]; [rewrite np; assumption |].
  rewrite np in *. pose proof (report_instant m j Hj done) as at_m. cbv beta in same_j. rewrite same_j in at_m.
  pose proof (not_late A async p j Hj) as early.
  pose proof (first_done A async m i Hi) as first. rewrite (time_left m i Hi), (same_i m ltac:(lia)) in first.
  assert (step : instant A (S m) = instant A m + duration A m) by reflexivity.
  assert (bound : (reported n j - reported p j - 1) * time_of A j <= time_of A i) by lra.
  destruct (Rle_lt_or_eq_dec _ _ bound) as [less | equal].
  - assert (reported n j - reported p j - 1 < time_of A i / time_of A j).
    { apply Rmult_lt_reg_r with (time_of A j); [assumption |].
      replace (time_of A i / time_of A j * time_of A j) with (time_of A i) by (field; lra). assumption. }
    rewrite <- minus_INR by lia. rewrite INR_IZR_INZ. apply IZR_le.
    assert (lt : IZR (Z.of_nat (count n (fun m => reports A m j) - count p (fun m => reports A m j)))
      < IZR (ceiling (time_of A i / time_of A j) + 1)).
    { rewrite plus_IZR, <- INR_IZR_INZ, minus_INR by lia. lra. }
    apply lt_IZR in lt. lia.
  - exfalso.
    assert (at_end : remaining A m i = remaining A m j).
    { rewrite (only_done A async m j Hj done), (time_left m i Hi), (same_i m ltac:(lia)). lra. }
    destruct (Nat.lt_trichotomy i j) as [before | [|after]]; [| contradiction |].
    + pose proof (ties_in_order A async m i j before Hj at_end done) as both. rewrite (idle_i m) in both by lia. discriminate.
    + destruct (Nat.eq_dec p 0) as [zero | positive].
      * assert (none : instant A p = 0) by (rewrite zero; reflexivity).
        pose proof (pos_INR (count p (fun m => reports A m j))). nra.
      * assert (did : reports A (p - 1) i = true).
        { unfold p, a. apply reported_before. unfold p, a in positive. lia. }
        set (l := (p - 1)%nat) in *. assert (pl : p = S l) by (unfold l; lia).
        assert (not_j : reports A l j = false).
        { destruct (reports A l j) eqn:does; [| reflexivity]. exfalso.
          pose proof (report_instant l j Hj does) as at_l. rewrite <- pl in at_l. lra. }
        assert (same_p : reported p j = reported l j).
        { rewrite pl. cbn [count]. rewrite not_j. reflexivity. }
        assert (tie : remaining A l j = remaining A l i).
        { rewrite (only_done A async l i Hi did), (time_left l j Hj). rewrite same_p in *.
          assert (instant A p = instant A l + duration A l) by (rewrite pl; reflexivity). lra. }
        pose proof (ties_in_order A async l j i after Hi tie did) as both. rewrite not_j in both. discriminate.
Qed.

Lemma age_by_others n i : (i < number C)%nat -> INR (age A n i) <= other_reports i.
Proof.
  intros Hi. set (a := age A n i). pose proof (age_below A n i) as Ha. fold a in Ha.
  apply Rle_trans with (sum (number C) (fun j => if Nat.eqb j i then 0 else reported n j - reported (n - a) j)).
  - apply Rle_trans with (sum a (fun l => sum (number C) (fun j => if Nat.eqb j i then 0 else
      if reports A (n - a + l) j then 1 else 0))).
    + rewrite <- (Rmult_1_r (INR a)), <- sum_const. apply sum_le. intros l Hl.
      destruct (somebody_done A async (n - a + l)) as [j [Hj done]].
      apply Rle_trans with (sum (number C) (fun h => if Nat.eqb h j then 1 else 0)).
      * rewrite (sum_single _ _ j Hj); [rewrite Nat.eqb_refl; lra |].
        intros h _ other. destruct (Nat.eqb_spec h j); [contradiction | reflexivity].
      * apply sum_le. intros h _. destruct (Nat.eqb_spec h j) as [-> |].
        -- rewrite done. destruct (Nat.eqb_spec j i) as [-> |]; [| lra].
           rewrite (idle n i (n - a + l)) in done by (fold a; lia). discriminate.
        -- destruct (Nat.eqb h i), (reports A (n - a + l) h); lra.
    + rewrite sum_swap. right. apply sum_ext. intros j _. destruct (Nat.eqb j i).
      * rewrite sum_const. ring.
      * rewrite !count_as_sum. pose proof (sum_split (n - a) a (fun m => if reports A m j then 1 else 0)) as split.
        replace (n - a + a)%nat with n in split by lia. lra.
  - unfold other_reports. apply sum_le. intros j Hj. destruct (Nat.eqb_spec j i) as [| other]; [lra |].
    apply reports_while_working; auto.
Qed.

Lemma other_reports_nonneg i : (i < number C)%nat -> 0 <= other_reports i.
Proof. intros Hi. apply Rle_trans with (INR (age A O i)); [apply pos_INR | apply age_by_others; assumption]. Qed.

Lemma stale_by_others : 0 <= most_other_reports - largest_staleness A.
Proof.
  assert (positive : 0 <= most_other_reports) by apply largest_nonneg.
  enough (largest_staleness A <= most_other_reports) by lra.
  apply Run.largest_at_most; [assumption |]. intros n _. apply Run.largest_at_most; [assumption |]. intros i Hi.
  apply Rle_trans with (1 := age_by_others n i Hi). apply (Run.largest_at_least _ other_reports i Hi).
Qed.

(** When a whole cycle ends all have reported, one by one: the last one after all the others. *)
Lemma stale_at_end : one_at_a_time A -> whole_cycles A (time_of A) -> 0 <= - M_of A + largest_staleness A + 1.
Proof.
  intros alone cycles. pose proof (some_updates A) as some. set (N := pred (updates A)).
  assert (HN : updates A = S N) by (unfold N; lia). destruct (somebody_done A async N) as [i [Hi done]].
  set (a := age A N i). pose proof (age_below A N i) as Ha. fold a in Ha.
  assert (whole : forall j, (j < number C)%nat -> reported (S N) j * time_of A j = clock_time A).
  { intros j Hj. pose proof (reports_per_time A cycles j Hj) as H. unfold report_count in H. rewrite HN in H. lra. }
  assert (before : instant A (N - a) = reported N i * time_of A i) by apply (last_start A async N i Hi).
  assert (own : reported (S N) i = reported N i + 1).
  { cbn [count]. rewrite done, plus_INR. simpl (INR 1). ring. }
  pose proof (times_positive A i Hi) as Ti. pose proof (whole i Hi) as whole_i. rewrite own in whole_i.
  assert (only : forall j, (j < number C)%nat -> j <> i -> reports A N j = false).
  { intros j Hj other. destruct (reports A N j) eqn:does; [| reflexivity]. exfalso.
    pose proof (alone N ltac:(lia)) as one. apply (f_equal INR) in one. rewrite count_as_sum in one. simpl (INR 1) in one.
    assert (2 <= sum (number C) (fun h => if reports A N h then 1 else 0)); [| lra].
    apply Rle_trans with (sum (number C) (fun h => (if Nat.eqb h i then 1 else 0) + (if Nat.eqb h j then 1 else 0))).
    - assert (single : forall l, (l < number C)%nat -> sum (number C) (fun h => if Nat.eqb h l then 1 else 0) = 1).
      { intros l Hl. rewrite (sum_single _ _ l Hl); [rewrite Nat.eqb_refl; reflexivity |].
        intros h _ away. destruct (Nat.eqb_spec h l); [contradiction | reflexivity]. }
      rewrite sum_plus, (single i Hi), (single j Hj). lra.
    - apply sum_le. intros h _. destruct (Nat.eqb_spec h i) as [is_i |], (Nat.eqb_spec h j) as [is_j |].
      + congruence.
      + rewrite is_i, done. lra.
      + rewrite is_j, does. lra.
      + destruct (reports A N h); lra. }
  assert (others : forall j, (j < number C)%nat -> j <> i -> 1 <= reported N j - reported (N - a) j).
  { intros j Hj other. pose proof (times_positive A j Hj) as Tj. pose proof (whole j Hj) as whole_j.
    assert (same : reported (S N) j = reported N j) by (cbn [count]; rewrite (only j Hj other); reflexivity).
    rewrite same in whole_j. pose proof (not_early A async (N - a) j Hj) as late.
    assert (less : (count (N - a) (fun m => reports A m j) < count N (fun m => reports A m j))%nat).
    { apply INR_lt. apply Rmult_lt_reg_r with (time_of A j); [assumption |]. lra. }
    assert (S (count (N - a) (fun m => reports A m j)) <= count N (fun m => reports A m j))%nat as more by lia.
    apply le_INR in more. rewrite S_INR in more. lra. }
  assert (total : INR a = sum (number C) (fun j => reported N j - reported (N - a) j)).
  { rewrite sum_minus, !(one_report_per_update A alone) by lia. rewrite minus_INR by lia. lra. }
  assert (low : M_of A - 1 <= INR a).
  { rewrite total. apply Rle_trans with (sum (number C) (fun j => 1 - (if Nat.eqb j i then 1 else 0))).
    - rewrite sum_minus, sum_const, (sum_single _ _ i Hi); [rewrite Nat.eqb_refl; unfold M_of; lra |].
      intros j _ other. destruct (Nat.eqb_spec j i); [contradiction | reflexivity].
    - apply sum_le. intros j Hj. destruct (Nat.eqb_spec j i) as [-> | other].
      + pose proof (count_grows (fun m => reports A m i) (N - a) a) as grows.
        replace (N - a + a)%nat with N in grows by lia.
        apply le_INR in grows. lra.
      + pose proof (others j Hj other). lra. }
  assert (INR a <= largest_staleness A); [| lra]. unfold largest_staleness.
  apply Rle_trans with (Run.largest (number C) (fun i => INR (age A N i))).
  - apply (Run.largest_at_least _ (fun i => INR (age A N i)) i Hi).
  - apply (Run.largest_at_least _ (fun n => Run.largest (number C) (fun i => INR (age A n i))) N). lia.
Qed.
End Asynchronous.

(** There is a least time that every T_i divides, where there is any. *)
Lemma divides_dec t i : 0 <= t -> (i < number C)%nat ->
  {exists k, t = INR k * time_of A i} + {~ exists k, t = INR k * time_of A i}.
Proof.
  intros Ht Hi. pose proof (times_positive A i Hi) as Ti.
  destruct (Req_EM_T t (INR (Z.to_nat (up (t / time_of A i)) - 1) * time_of A i)) as [yes | no].
  - left. eexists. exact yes.
  - right. intros [k Hk]. apply no. rewrite Hk at 1. f_equal. f_equal.
    assert (x : t / time_of A i = INR k) by (rewrite Hk; field; lra). rewrite x. rewrite INR_IZR_INZ.
    rewrite <- (tech_up (IZR (Z.of_nat k)) (Z.of_nat k + 1)); [lia | |]; rewrite plus_IZR; lra.
Qed.

Lemma divided_dec t n : 0 <= t -> (n <= number C)%nat ->
  {forall i, (i < n)%nat -> exists k, t = INR k * time_of A i} + {~ forall i, (i < n)%nat -> exists k, t = INR k * time_of A i}.
Proof.
  intros Ht. induction n as [| n IH]; intros Hn; [left; intros; lia |].
  destruct (divides_dec t n Ht ltac:(lia)) as [this | no]; [| right; intros H; apply no, H; lia].
  destruct (IH ltac:(lia)) as [all | no]; [| right; intros H; apply no; intros; apply H; lia].
  left. intros i Hi. destruct (Nat.eq_dec i n) as [-> |]; [assumption | apply all; lia].
Qed.

Lemma least_of (P : nat -> Prop) (dec : forall k, {P k} + {~ P k}) k : P k -> exists m, P m /\ forall l, P l -> (m <= l)%nat.
Proof.
  enough (H : forall n, (exists m, (m < n)%nat /\ P m /\ forall l, P l -> (m <= l)%nat) \/ forall l, (l < n)%nat -> ~ P l).
  { intros Hk. destruct (H (S k)) as [[m [_ found]] | none]; [exists m; exact found |]. exfalso. apply (none k); [lia | assumption]. }
  induction n as [| n IH]; [right; intros; lia |]. destruct IH as [[m [Hm found]] | none]; [left; exists m; split; [lia | exact found] |].
  destruct (dec n) as [yes | no].
  - left. exists n. split; [lia |]. split; [assumption |]. intros l Hl. destruct (Nat.le_gt_cases n l); [assumption |].
    exfalso. apply (none l); assumption.
  - right. intros l Hl. destruct (Nat.eq_dec l n) as [-> |]; [assumption | apply none; lia].
Qed.

Lemma least_period_exists : asynchronous A -> one_at_a_time A -> whole_cycles A (time_of A) -> exists nu, least_period A nu.
Proof.
  intros async alone cycles. pose proof (several C) as some. pose proof (times_positive A O some) as T0.
  set (P := fun k => (0 < k)%nat /\ forall i, (i < number C)%nat -> exists l, INR k * time_of A O = INR l * time_of A i).
  assert (dec : forall k, {P k} + {~ P k}).
  { intros k. unfold P. destruct (Nat.eq_dec k 0) as [-> | other]; [right; lia |].
    assert (0 <= INR k * time_of A O) by (apply Rmult_le_pos; [apply pos_INR | lra]).
    destruct (divided_dec (INR k * time_of A O) (number C) H (le_n _)) as [yes | no]; [left; split; [lia | exact yes] |].
    right. intros [_ yes]. exact (no yes). }
  assert (multiples : forall nu, is_period A nu -> exists k, nu = INR k * time_of A O /\ P k).
  { intros nu [positive divides]. destruct (divides O some) as [k Hk]. exists k. split; [assumption |]. split.
    - destruct k; [simpl in Hk; lra | lia].
    - intros i Hi. destruct (divides i Hi) as [l Hl]. exists l. lra. }
  assert (whole : is_period A (clock_time A)).
  { split; [apply time_has_passed; assumption | apply (clock_is_whole A cycles)]. }
  destruct (multiples _ whole) as [k [_ Hk]]. destruct (least_of P dec k Hk) as [m [[positive divides] least]].
  exists (INR m * time_of A O). split.
  - split; [apply Rmult_lt_0_compat; [apply lt_0_INR |]; assumption | assumption].
  - intros other period. destruct (multiples other period) as [l [-> Hl]]. apply Rmult_le_compat_r; [lra |].
    apply le_INR, least. assumption.
Qed.

(** Whole times are at least one; a power of the number of clients by the one before. *)
Lemma slowest_at_least_one : whole_times A -> 1 <= slowest_time A.
Proof.
  intros whole. pose proof (several C) as some. destruct (whole O some) as [k Hk].
  pose proof (times_positive A O some) as positive. pose proof (slower A O some). rewrite Hk in *.
  assert (1 <= INR k); [| lra]. replace 1 with (INR 1) by reflexivity. apply le_INR.
  destruct k; [simpl in positive; lra | lia].
Qed.

Lemma power_of_number x : x ^ number C = x ^ (number C - 1) * x.
Proof.
  pose proof (several C). replace (number C) with (S (number C - 1)) at 1 by lia. cbn [pow]. ring.
Qed.
End Definitions.
