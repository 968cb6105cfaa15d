(** Updates with random weights: what they have to do with the gradients that they weigh, and how far the server moves.

    Fraboni et al. (2022), Assumption 5, Lemma 1, (70), (71) and (104), and the first step of Lemma 6. *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives Stale.
Require Run.
Open Scope R_scope.

Fixpoint most (n : nat) (f : nat -> nat) : nat :=
  match n with O => O | S n => Nat.max (most n f) (f n) end.

Section Definitions.
Context (A : server).
Notation V := (space_of A).
Notation C := (clients_of A).
Notation q_i := (expected_weight A).
Notation total := (sum (number C)).

(** Assumption 5: the weights are independent of the gradients; E[omega_i omega_j] = alpha q_i q_j for two clients, and
    E[omega_i^2] = d_i q_i, where d_i(n) is the weight of a client that counts with d_i or not at all. *)
Record covariance (alpha : R) (d : nat -> nat -> R) : Prop := {
  pairing_nonneg : 0 <= alpha;
  pairing_at_most_one : alpha <= 1;
  of_two : forall n k i j, (i < number C)%nat -> (j < number C)%nat -> i <> j ->
    ⟨weighed A n i (sample A n k i), weighed A n j (sample A n k j)⟩
    = alpha * q_i n i * q_i n j * ⟨sample A n k i, sample A n k j⟩;
  of_one : forall n k i, (i < number C)%nat ->
    ‖weighed A n i (sample A n k i)‖² = d n i * q_i n i * ‖sample A n k i‖²;
  no_variance_below_zero : forall n i, (i < number C)%nat -> q_i n i ^ 2 <= d n i * q_i n i }.

(** Nobody is drawn at random: omega_i(n) = q_i(n). *)
Definition given_weights (d : nat -> nat -> R) : Prop := forall n i,
  (forall v, weighed A n i v = (q_i n i • v)%vec) /\ d n i * q_i n i = q_i n i ^ 2.
Definition largest_weight_sum : R := Rmax 1 (Run.largest (updates A) (weight_sum A)).
Definition reporting_excess (alpha : R) (d : nat -> nat -> R) : R := Run.largest (updates A)
  (fun n => Run.largest (number C) (fun i => if Req_EM_T (q_i n i) 0 then 0 else d n i - alpha * q_i n i)).

Definition expected_square (d : nat -> nat -> R) (n i : nat) : R := d n i * q_i n i.
Definition weight_excess (alpha : R) (d : nat -> nat -> R) : R := Run.largest (updates A)
  (fun n => Run.largest (number C) (fun i => d n i - alpha * q_i n i)).

Definition gradient_sq (n k i : nat) : R := ‖sample A n k i‖².
Definition applied (n k : nat) : V := vsum (number C) (fun i => weighed A n i (sample A n k i)).
Definition selected_sq (n k : nat) : R := ‖applied n k‖².
Definition square_mean_at (n k : nat) : R := ‖vsum (number C) (fun i => weight_share A n i • sample A n k i)‖².
Definition square_mean_gradient (n : nat) : R := mean_over_steps A (square_mean_at n).

(** Q(n), its sum over the last tau updates, and how old models are. *)
Definition step_length_sq (n : nat) : R := ‖model A (S n) - model A n‖².
Definition staleness : nat := most (updates A) (fun n => most (number C) (fun i => (n - received_at A n i)%nat)).
Definition largest_staleness : R := INR staleness.
Definition past_step_lengths_sq (n : nat) : R := sum (Nat.min staleness n) (fun s => step_length_sq (n - 1 - s)).
Definition received_distance_sq (n i : nat) : R := ‖model A (received_at A n i) - model A n‖².

(** The objective of an update over q(n), and gradients at the virtual iterates. *)
Definition shared_objective (n : nat) : objective V := sum_objective A (weight_share A n).
Definition slope_sq (f : objective V) (n k : nat) : R := ‖grad f (virtual A n k)‖².
Definition slope_difference_sq (n k : nat) : R :=
  ‖grad (federated A) (virtual A n k) - grad (shared_objective n) (virtual A n k)‖².

(** What a step of the virtual iterate changes of its distance from a point, and how far clients are from it. *)
Definition virtual_step_sq (n k : nat) : R := ‖virtual A n (S k) - virtual A n k‖².
Definition selected_descent (x : V) (n k : nat) : R := ⟨applied n k, virtual A n k - x⟩.
Definition largest_share (n : nat) : R := Run.largest (number C) (weight_share A n).
Definition client_spread (n : nat) : R := mean_over_steps A (fun k =>
  total (fun i => weight_share A n i * ‖local A n k i - virtual A n k‖²)).
Definition alignment (bar : V) (n : nat) : R := mean_over_steps A (fun k =>
  total (fun i => q_i n i * ⟨grad (objective_of A i) (local A n k i), virtual A n k - bar⟩)).
Definition convex_clients : Prop := forall i, (i < number C)%nat -> convex (objective_of A i).
Definition smooth_clients (L : R) : Prop := forall i, (i < number C)%nat -> smooth L (objective_of A i).

Lemma square_of_sum n (f : nat -> V) : ‖vsum n f‖² = sum n (fun i => sum n (fun j => ⟨f i, f j⟩)).
Proof.
  rewrite dot_vsum. apply sum_ext. intros i _. rewrite dot_comm, dot_vsum. apply sum_ext. intros. apply dot_comm.
Qed.

Lemma weight_at_most_sum n i : (i < number C)%nat -> q_i n i <= weight_sum A n.
Proof.
  intros Hi. unfold weight_sum. apply Rle_trans with (total (fun j => if Nat.eqb j i then q_i n j else 0)).
  - rewrite (sum_single _ _ i Hi); [rewrite Nat.eqb_refl; lra |].
    intros j _ other. destruct (Nat.eqb_spec j i); [contradiction | reflexivity].
  - apply sum_le. intros j Hj. pose proof (expected_weight_nonneg A n j Hj). destruct (Nat.eqb j i); lra.
Qed.

Lemma weight_of_share n i : (i < number C)%nat -> weight_sum A n * weight_share A n i = q_i n i.
Proof.
  intros Hi. unfold weight_share. destruct (Req_dec (weight_sum A n) 0) as [zero |]; [| field; assumption].
  pose proof (weight_at_most_sum n i Hi) as H.
  pose proof (expected_weight_nonneg A n i Hi). rewrite zero in *. unfold Rdiv. lra.
Qed.

Lemma square_of_mean n k : weight_sum A n ^ 2 * square_mean_at n k
  = total (fun i => total (fun j => q_i n i * q_i n j * ⟨sample A n k i, sample A n k j⟩)).
Proof.
  unfold square_mean_at. rewrite square_of_sum, <- sum_scale. apply sum_ext. intros i Hi.
  rewrite <- sum_scale. apply sum_ext. intros j Hj. rewrite dot_scale, (dot_comm V (sample A n k i)), dot_scale.
  rewrite (dot_comm V (sample A n k j)).
  rewrite <- (weight_of_share n i Hi), <- (weight_of_share n j Hj). ring.
Qed.

Section Covariance.
Context (alpha : R) (d : nat -> nat -> R) (weights : covariance alpha d).

(** Lemma 1. *)
Lemma selected_square n k : selected_sq n k = alpha * (weight_sum A n ^ 2 * square_mean_at n k)
  + total (fun i => gradient_sq n k i * (expected_square d n i - alpha * q_i n i ^ 2)).
Proof.
  rewrite square_of_mean, <- sum_scale, <- sum_plus. unfold selected_sq, applied. rewrite square_of_sum.
  apply sum_ext. intros i Hi.
  rewrite (sum_ext _ _ (fun j => alpha * (q_i n i * q_i n j * ⟨sample A n k i, sample A n k j⟩)
    + (if Nat.eqb j i then gradient_sq n k i * (expected_square d n i - alpha * q_i n i ^ 2) else 0))).
  - rewrite sum_plus, sum_scale. f_equal. rewrite (sum_single _ _ i Hi); [rewrite Nat.eqb_refl; reflexivity |].
    intros j _ other. destruct (Nat.eqb_spec j i); [contradiction | reflexivity].
  - intros j Hj. unfold gradient_sq, expected_square. destruct (Nat.eqb_spec j i) as [-> | other].
    + rewrite (of_one _ _ weights n k i Hi). ring.
    + rewrite (of_two _ _ weights n k i j Hi Hj) by lia. ring.
Qed.

Lemma selected_square_by_parts n k : selected_sq n k
  = alpha * (weight_sum A n ^ 2 * square_mean_at n k - total (fun i => gradient_sq n k i * q_i n i ^ 2))
    + total (fun i => expected_square d n i * gradient_sq n k i).
Proof.
  rewrite selected_square.
  replace (total (fun i => gradient_sq n k i * (expected_square d n i - alpha * q_i n i ^ 2)))
    with (total (fun i => expected_square d n i * gradient_sq n k i)
      - alpha * total (fun i => gradient_sq n k i * q_i n i ^ 2)); [ring |].
  rewrite <- sum_scale, <- sum_minus. apply sum_ext. intros. ring.
Qed.

(** (57) to (59). *)
Lemma step_in_parts x n k : distance_sq A x n (S k) = virtual_step_sq n k + distance_sq A x n k
  - 2 * selected_descent x n k * server_size A * local_size A.
Proof.
  unfold distance_sq, virtual_step_sq, selected_descent. cbn [virtual]. fold (applied n k).
  set (a := applied n k). set (u := virtual A n k). expand_dots.
  rewrite ?(dot_comm V a u), ?(dot_comm V x u), ?(dot_comm V x a). ring.
Qed.

Lemma step_by_weights x n k : distance_sq A x n (S k) = distance_sq A x n k
  + server_size A ^ 2 * local_size A ^ 2 * (square_mean_at n k * alpha * weight_sum A n ^ 2
    + total (fun i => gradient_sq n k i * (expected_square d n i - alpha * q_i n i ^ 2)))
  - 2 * selected_descent x n k * server_size A * local_size A.
Proof.
  rewrite step_in_parts. unfold virtual_step_sq.
  assert (E : ‖virtual A n (S k) - virtual A n k‖² = (server_size A * local_size A) ^ 2 * selected_sq n k).
  { unfold selected_sq. cbn [virtual]. fold (applied n k).
    set (a := applied n k). set (u := virtual A n k). expand_dots. rewrite ?(dot_comm V a u). ring. }
  rewrite E, selected_square. ring.
Qed.

Lemma pairing_below_one : 0 <= 1 - alpha.
Proof. pose proof (pairing_at_most_one _ _ weights). lra. Qed.

Lemma excess_of_given : given_weights d -> 0 <= largest_weight_sum - reporting_excess alpha d.
Proof.
  intros given. apply Rge_le, Rge_minus, Rle_ge. unfold reporting_excess.
  assert (large : 0 <= largest_weight_sum) by (unfold largest_weight_sum; pose proof (Rmax_l 1 (Run.largest (updates A) (weight_sum A))); lra).
  apply Run.largest_at_most; [assumption |]. intros n Hn. apply Run.largest_at_most; [assumption |]. intros i Hi.
  destruct (Req_EM_T (q_i n i) 0) as [| reports]; [assumption |].
  assert (d n i = q_i n i) as -> by (apply Rmult_eq_reg_r with (q_i n i); [rewrite (proj2 (given n i)); ring | assumption]).
  pose proof (pairing_nonneg _ _ weights). pose proof (expected_weight_nonneg A n i Hi) as positive.
  apply Rle_trans with (q_i n i); [nra |]. apply Rle_trans with (weight_sum A n).
  - apply weight_at_most_sum. assumption.
  - apply Rle_trans with (1 := Run.largest_at_least _ (weight_sum A) n Hn). apply Rmax_r.
Qed.

Lemma square_weight_below n i : (i < number C)%nat -> 0 <= expected_square d n i - alpha * q_i n i ^ 2.
Proof.
  intros Hi. pose proof (no_variance_below_zero _ _ weights n i Hi). unfold expected_square.
  pose proof (pow2_ge_0 (q_i n i)). pose proof (pairing_at_most_one _ _ weights). nra.
Qed.

Lemma square_weight_above n i : (n < updates A)%nat -> (i < number C)%nat ->
  expected_square d n i - alpha * q_i n i ^ 2 <= weight_excess alpha d * q_i n i.
Proof.
  intros Hn Hi. pose proof (expected_weight_nonneg A n i Hi) as positive. unfold expected_square.
  assert (d n i - alpha * q_i n i <= weight_excess alpha d); [| nra].
  unfold weight_excess. apply Rle_trans with (2 := Run.largest_at_least _ _ n Hn); cbv beta.
  apply (Run.largest_at_least _ (fun i => d n i - alpha * q_i n i) i Hi).
Qed.

Lemma selected_at_most n k : (n < updates A)%nat -> selected_sq n k
  <= alpha * (weight_sum A n ^ 2 * square_mean_at n k) + weight_excess alpha d * weight_sum A n * step_square A n k.
Proof.
  intros Hn. rewrite selected_square. apply Rplus_le_compat_l. unfold step_square. rewrite <- sum_scale.
  apply sum_le. intros i Hi.
  replace (weight_excess alpha d * weight_sum A n * (‖sample A n k i‖² * weight_share A n i))
    with (gradient_sq n k i * (weight_excess alpha d * (weight_sum A n * weight_share A n i)))
    by (unfold gradient_sq; ring).
  rewrite (weight_of_share n i Hi). apply Rmult_le_compat_l; [apply dot_self |]. apply square_weight_above; assumption.
Qed.

Lemma square_of_steps n (f : nat -> V) : ‖vsum n f‖² <= INR n * sum n (fun k => ‖f k‖²).
Proof.
  rewrite square_of_sum. apply Rle_trans with (sum n (fun i => sum n (fun j => (‖f i‖² + ‖f j‖²) * (1 / 2)))).
  - apply sum_le. intros i _. apply sum_le. intros j _. pose proof (dot_self V (f i - f j)%vec) as H.
    rewrite dot_minus, !(dot_comm V _ (f i - f j)%vec), !dot_minus, (dot_comm V (f j) (f i)) in H. lra.
  - rewrite (sum_ext _ _ (fun i => INR n * (1 / 2) * ‖f i‖² + (1 / 2) * sum n (fun j => ‖f j‖²))).
    + rewrite sum_plus, sum_scale, sum_const. lra.
    + intros i _. rewrite (sum_ext _ _ (fun j => (1 / 2) * ‖f i‖² + (1 / 2) * ‖f j‖²)) by (intros; ring).
      rewrite sum_plus, sum_const, sum_scale. ring.
Qed.

Lemma at_least_one : 1 <= largest_weight_sum.
Proof. apply Rmax_l. Qed.

(** What the server moves in an update. *)
Lemma move_by_steps n : aggregation_scheme A ->
  step_length_sq n = (server_size A * local_size A) ^ 2 * ‖vsum (steps A) (applied n)‖².
Proof.
  intros scheme.
  assert (H : forall w, dot (model A (S n) - model A n)%vec w
    = - (server_size A * local_size A) * dot (vsum (steps A) (applied n)) w).
  { intros w. rewrite dot_minus, scheme, dot_plus, dot_scale, !dot_vsum.
    rewrite (sum_ext _ (fun i => dot (weighed A n i (change A n i)) w)
      (fun i => - local_size A * sum (steps A) (fun l => dot (weighed A n i (sample A n l i)) w)))
      by (intros; apply dot_change).
    rewrite sum_scale, sum_swap. unfold applied.
    rewrite (sum_ext _ (fun k => dot (vsum (number C) (fun i => weighed A n i (sample A n k i))) w)
      (fun k => total (fun i => dot (weighed A n i (sample A n k i)) w))) by (intros; apply dot_vsum).
    ring. }
  unfold step_length_sq. rewrite H, (dot_comm V _ (model A (S n) - model A n)%vec), H. ring.
Qed.

Lemma move_at_most n : aggregation_scheme A -> (n < updates A)%nat -> step_length_sq n
  <= K_of A ^ 2 * square_mean_gradient n * alpha * server_size A ^ 2 * local_size A ^ 2 * weight_sum A n ^ 2
    + K_of A ^ 2 * mean_square_gradient A n * weight_excess alpha d * server_size A ^ 2 * local_size A ^ 2 * weight_sum A n.
Proof.
  intros scheme Hn. rewrite (move_by_steps n scheme). pose proof (K_at_least_one A).
  set (size := (server_size A * local_size A) ^ 2). assert (0 <= size) by apply pow2_ge_0.
  apply Rle_trans with (size * (K_of A * (K_of A * (alpha * (weight_sum A n ^ 2 * square_mean_gradient n)
    + weight_excess alpha d * weight_sum A n * mean_square_gradient A n)))).
  - apply Rmult_le_compat_l; [assumption |]. apply Rle_trans with (1 := square_of_steps _ _).
    apply Rmult_le_compat_l; [fold (K_of A); lra |].
    apply Rle_trans with (sum (steps A) (fun k => alpha * weight_sum A n ^ 2 * square_mean_at n k
      + weight_excess alpha d * weight_sum A n * step_square A n k)).
    + apply sum_le. intros k _. pose proof (selected_at_most n k Hn) as bound. unfold selected_sq in bound. lra.
    + rewrite sum_plus, !sum_scale. unfold square_mean_gradient, mean_square_gradient, mean_over_steps.
      right. field. lra.
  - right. unfold size. ring.
Qed.
End Covariance.

(** What two weights that are equal, or as unequal as can be, leave of the sum. *)
Lemma by_largest_share n k : square_mean_at n k * weight_sum A n ^ 2
    - largest_share n * weight_sum A n * total (fun i => gradient_sq n k i * q_i n i)
  <= square_mean_at n k * weight_sum A n ^ 2 - total (fun i => gradient_sq n k i * q_i n i ^ 2).
Proof.
  apply Rplus_le_compat_l, Ropp_le_contravar. rewrite <- sum_scale. apply sum_le. intros i Hi.
  rewrite <- (weight_of_share n i Hi) at 1. pose proof (Run.largest_at_least _ (weight_share A n) i Hi) as H.
  fold (largest_share n) in H. pose proof (expected_weight_nonneg A n i Hi) as positive.
  assert (G : 0 <= gradient_sq n k i) by apply dot_self.
  assert (W : 0 <= weight_sum A n) by (apply sum_nonneg; intros; apply expected_weight_nonneg; assumption).
  replace (gradient_sq n k i * (weight_sum A n * weight_share A n i) ^ 2)
    with (gradient_sq n k i * q_i n i * weight_sum A n * weight_share A n i)
    by (rewrite <- (weight_of_share n i Hi); ring).
  replace (largest_share n * weight_sum A n * (gradient_sq n k i * q_i n i))
    with (gradient_sq n k i * q_i n i * weight_sum A n * largest_share n) by ring.
  apply Rmult_le_compat_l; [repeat apply Rmult_le_pos |]; assumption.
Qed.

Lemma by_number n k : square_mean_at n k * weight_sum A n ^ 2 - total (fun i => gradient_sq n k i * q_i n i ^ 2)
  <= square_mean_at n k * weight_sum A n ^ 2 * (1 - 1 / M_of A).
Proof.
  pose proof (square_of_steps (number C) (fun i => q_i n i • sample A n k i)%vec) as H.
  rewrite square_of_sum in H. rewrite (Rmult_comm (square_mean_at n k)), square_of_mean.
  rewrite (sum_ext _ (fun i => ‖q_i n i • sample A n k i‖²) (fun i => gradient_sq n k i * q_i n i ^ 2)) in H
    by (intros; unfold gradient_sq; rewrite dot_scale, dot_comm, dot_scale; ring).
  rewrite (sum_ext _ _ (fun i => total (fun j => q_i n i * q_i n j * ⟨sample A n k i, sample A n k j⟩))) in H
    by (intros; apply sum_ext; intros; rewrite dot_scale, dot_comm, dot_scale, dot_comm; ring).
  pose proof (M_at_least_one A) as large. fold (M_of A) in H.
  set (whole := total (fun i => total _)) in *. set (own := total (fun i => gradient_sq n k i * q_i n i ^ 2)) in *.
  assert (whole * (1 / M_of A) <= own); [| lra].
  apply Rmult_le_reg_l with (M_of A); [lra |]. replace (M_of A * (whole * (1 / M_of A))) with whole by (field; lra). lra.
Qed.

(** (72): where clients are, objectives lie between two tangents. *)
Lemma alignment_at_least L bar n : convex_clients -> smooth_clients L ->
  - (2 * alignment bar n) <= L * client_spread n * weight_sum A n - 2 * surrogate_gap A bar n.
Proof.
  intros cups bends. pose proof (K_at_least_one A) as large. unfold alignment, client_spread, surrogate_gap, mean_over_steps.
  assert (H : forall k, (k < steps A)%nat -> value (round_objective A n) (virtual A n k) - value (round_objective A n) bar
    <= total (fun i => q_i n i * ⟨grad (objective_of A i) (local A n k i), virtual A n k - bar⟩)
      + L / 2 * weight_sum A n * total (fun i => weight_share A n i * ‖local A n k i - virtual A n k‖²)).
  { intros k _. cbn [value round_objective sum_objective]. rewrite <- sum_minus, <- sum_scale, <- sum_plus.
    apply sum_le. intros i Hi. pose proof (expected_weight_nonneg A n i Hi) as positive.
    pose proof (cups i Hi bar (local A n k i)) as low. pose proof (proj2 (bends i Hi (virtual A n k) (local A n k i))) as high.
    replace (L / 2 * weight_sum A n * (weight_share A n i * ‖local A n k i - virtual A n k‖²))
      with (q_i n i * (L / 2 * ‖local A n k i - virtual A n k‖²)) by (rewrite <- (weight_of_share n i Hi); ring).
    rewrite <- Rmult_plus_distr_l. replace (value (objective_of A i) (virtual A n k) * q_i n i
      - value (objective_of A i) bar * q_i n i)
      with (q_i n i * (value (objective_of A i) (virtual A n k) - value (objective_of A i) bar)) by ring.
    apply Rmult_le_compat_l; [assumption |]. unfold gap in *.
    assert (E : ‖virtual A n k - local A n k i‖² = ‖local A n k i - virtual A n k‖²).
    { expand_dots. rewrite (dot_comm V (local A n k i) (virtual A n k)). ring. }
    rewrite E in high. rewrite !(dot_comm V (grad (objective_of A i) (local A n k i))), !dot_minus in *. lra. }
  pose proof (sum_le _ _ _ H) as whole. rewrite sum_plus, sum_scale in whole.
  apply Rmult_le_compat_l with (r := 2 * (1 / K_of A)) in whole;
    [lra | apply Rmult_le_pos; [lra | apply Rlt_le, Rdiv_lt_0_compat; lra]].
Qed.

Lemma most_at_least n f i : (i < n)%nat -> (f i <= most n f)%nat.
Proof.
  induction n; cbn [most]; intros Hi; [lia |]. destruct (Nat.eq_dec i n) as [-> |]; [lia |]. pose proof (IHn ltac:(lia)). lia.
Qed.

Lemma apart_by_moves n a w : (a <= n)%nat -> dot (model A (n - a)%nat - model A n)%vec w
  = - dot (vsum a (fun s => model A (S (n - 1 - s)) - model A (n - 1 - s)%nat)%vec) w.
Proof.
  induction a as [| a IH]; intros Ha; cbn [vsum].
  - rewrite Nat.sub_0_r, dot_minus, dot_zero. ring.
  - rewrite dot_plus, dot_minus in *. rewrite dot_minus in *. pose proof (IH ltac:(lia)) as H.
    replace (S (n - 1 - a)) with (n - a)%nat by lia. replace (n - S a)%nat with (n - 1 - a)%nat by lia. lra.
Qed.

(** (70) and (71): a model is at most tau updates old. *)
Lemma stale_models n i : (n < updates A)%nat -> (i < number C)%nat ->
  received_distance_sq n i <= past_step_lengths_sq n * largest_staleness.
Proof.
  intros Hn Hi. pose proof (not_from_later A n i). set (a := (n - received_at A n i)%nat).
  assert (Ha : (a <= staleness)%nat).
  { unfold staleness. apply Nat.le_trans with (2 := most_at_least _ _ n Hn); cbv beta.
    apply (most_at_least _ (fun i => (n - received_at A n i)%nat) i Hi). }
  unfold received_distance_sq. replace (received_at A n i) with (n - a)%nat by lia.
  assert (E : ‖model A (n - a)%nat - model A n‖² = ‖vsum a (fun s => model A (S (n - 1 - s)) - model A (n - 1 - s)%nat)%vec‖²).
  { rewrite apart_by_moves by lia. rewrite dot_comm, apart_by_moves by lia. ring. }
  rewrite E. apply Rle_trans with (1 := square_of_steps _ _).
  unfold past_step_lengths_sq, largest_staleness. rewrite Rmult_comm. apply Rmult_le_compat.
  - apply sum_nonneg. intros; apply dot_self.
  - apply pos_INR.
  - apply (sum_grows (fun s => step_length_sq (n - 1 - s))); [| lia]. intros; apply dot_self.
  - apply le_INR. assumption.
Qed.

(** (104). *)
Lemma slope_in_two n k : slope_sq (federated A) n k
  <= 2 * slope_difference_sq n k + 2 * slope_sq (shared_objective n) n k.
Proof.
  unfold slope_sq, slope_difference_sq. set (u := grad (federated A) _). set (v := grad (shared_objective n) _).
  pose proof (dot_self V (u - v - v)%vec) as H. revert H. expand_dots.
  rewrite ?(dot_comm V v u). lra.
Qed.
End Definitions.

(** A relation from a lemma that says it in another order. *)
Ltac by_lemma fact := first [exact fact | lra].
