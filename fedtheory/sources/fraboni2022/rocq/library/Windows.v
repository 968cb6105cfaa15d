(** Windows of updates: what it costs that an update has other weights than the mean.

    Fraboni et al. (2022), (23) to (25) and Theorem 3. *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives Normal Stale Weights Samples Means Types.
Require Run Schedule.
Open Scope R_scope.

Section Definitions.
Context (A : server).
Notation V := (space_of A).
Notation C := (clients_of A).
Notation L_i := (objective_of A).
Notation q_i := (expected_weight A).
Notation total := (sum (number C)).

(** Nobody is drawn at random: omega_i(n) = q_i(n). *)
Definition weights_are_given : Prop := forall n i v, weighed A n i v = (q_i n i • v)%vec.

(** B_g: a bound on what clients sample, and on their gradients at the virtual iterates. *)
Record bounded_gradients (B_g : R) : Prop := {
  bound_of_samples : forall n k i, (n < updates A)%nat -> (k < steps A)%nat -> (i < number C)%nat ->
    ‖sample A n k i‖² <= B_g ^ 2;
  bound_of_slopes : forall n k i, (n < updates A)%nat -> (k <= steps A)%nat -> (i < number C)%nat ->
    ‖grad (L_i i) (virtual A n k)‖² <= B_g ^ 2 }.

Definition local_change_sq (n i : nat) : R := ‖change A n i‖².
Definition virtual_loss_change (n k i : nat) : R :=
  value (L_i i) (virtual A n (S k)) - value (L_i i) (virtual A n k).

(** Sums over the b-th window of W updates. *)
Definition losses (n i : nat) : R := sum (steps A) (fun k => value (L_i i) (virtual A n k)).
Definition window_loss (W b i : nat) : R := sum W (fun n => mean_weight A i * losses (b * W + n) i).
Definition window_round_loss (W b i : nat) : R := sum W (fun n => q_i (b * W + n)%nat i * losses (b * W + n) i).
Definition window_weight (W b i : nat) : R := sum W (fun n => q_i (b * W + n)%nat i).

(** The surrogate problem at the virtual iterates. *)
Definition mean_weight_share (i : nat) : R := mean_weight A i / mean_weight_sum A.
Definition client_gap_at_surrogate_optimum (own : nat -> V) (bar : V) (i : nat) : R :=
  value (L_i i) bar - value (L_i i) (own i).
Definition surrogate_suboptimality_at (bar : V) (n k : nat) : R :=
  value (surrogate A) (virtual A n k) - value (surrogate A) bar.
Definition surrogate_suboptimality (bar : V) (n : nat) : R := mean_over_steps A (surrogate_suboptimality_at bar n).
Definition mean_surrogate_suboptimality (bar : V) : R := mean_over_updates A (surrogate_suboptimality bar).

Lemma window_large W : smallest_window A W -> 1 <= INR W.
Proof. intros [[positive _] _]. replace 1 with (INR 1) by reflexivity. apply le_INR. lia. Qed.

Section Given.
Context (given : weights_are_given).

Lemma applied_is_given n k w : ⟨applied A n k, w⟩ = total (fun i => q_i n i * ⟨sample A n k i, w⟩).
Proof. unfold applied. rewrite dot_vsum. apply sum_ext. intros i _. rewrite given. apply dot_scale. Qed.

(** (23). *)
Lemma move_by_changes n : aggregation_scheme A ->
  step_length_sq A n <= weight_sum A n * server_size A ^ 2 * total (fun i => q_i n i * local_change_sq n i).
Proof.
  intros scheme. unfold step_length_sq. rewrite scheme.
  assert (E : forall w, ⟨(model A n + server_size A • vsum (number C) (fun i => weighed A n i (change A n i))) - model A n, w⟩
    = server_size A * ⟨vsum (number C) (fun i => (q_i n i * 1) • change A n i), w⟩).
  { intros w. rewrite dot_minus, dot_plus, dot_scale, !dot_vsum.
    rewrite (sum_ext _ (fun i => ⟨weighed A n i (change A n i), w⟩) (fun i => ⟨(q_i n i * 1) • change A n i, w⟩)).
    - ring.
    - intros i _. rewrite given, Rmult_1_r. reflexivity. }
  rewrite E, dot_comm, E.
  pose proof (weighted_square A (number C) (q_i n) (fun _ => 1) (change A n) (fun i => expected_weight_nonneg A n i)) as H.
  rewrite (sum_ext _ (fun i => q_i n i * 1 ^ 2) (q_i n)) in H by (intros; ring). fold (weight_sum A n) in H.
  apply Rmult_le_compat_l with (r := server_size A ^ 2) in H; [| apply pow2_ge_0]. unfold local_change_sq. lra.
Qed.

Context (B_g : R) (bounded : bounded_gradients B_g).

Lemma changes_below_bound n : (n < updates A)%nat ->
  weight_sum A n * server_size A ^ 2 * total (fun i => q_i n i * local_change_sq n i)
  <= B_g ^ 2 * K_of A ^ 2 * local_size A ^ 2 * server_size A ^ 2 * weight_sum A n ^ 2.
Proof.
  intros Hn. pose proof (total_nonneg A n) as positive. pose proof (K_at_least_one A) as large.
  assert (each : forall i, (i < number C)%nat -> local_change_sq n i <= local_size A ^ 2 * (K_of A * (K_of A * B_g ^ 2))).
  { intros i Hi. unfold local_change_sq.
    assert (E : forall w, ⟨change A n i, w⟩ = - local_size A * ⟨vsum (steps A) (fun k => sample A n k i), w⟩).
    { intros w. unfold change. rewrite dot_vsum.
      assert (H : forall m, ⟨local A n m i - model A (received_at A n i), w⟩
        = - local_size A * sum m (fun k => ⟨sample A n k i, w⟩)).
      { induction m as [| m IH]; cbn [local sum].
        - rewrite dot_minus. ring.
        - cbv zeta. fold (sample A n m i). revert IH. rewrite !dot_minus, dot_scale. lra. }
      apply H. }
    rewrite E, dot_comm, E.
    pose proof (square_of_steps A (steps A) (fun k => sample A n k i)) as most.
    assert (bound : sum (steps A) (fun k => ‖sample A n k i‖²) <= K_of A * B_g ^ 2).
    { unfold K_of. rewrite <- sum_const. apply sum_le. intros k Hk. apply (bound_of_samples _ bounded); assumption. }
    fold (K_of A) in most. set (s := ‖vsum _ _‖²) in *.
    replace (- local_size A * (- local_size A * s)) with (local_size A ^ 2 * s) by ring.
    apply Rmult_le_compat_l; [apply pow2_ge_0 |]. apply Rle_trans with (1 := most). apply Rmult_le_compat_l; lra. }
  assert (sums : total (fun i => q_i n i * local_change_sq n i)
    <= weight_sum A n * (local_size A ^ 2 * (K_of A * (K_of A * B_g ^ 2)))).
  { unfold weight_sum. rewrite Rmult_comm, <- sum_scale. apply sum_le. intros i Hi. rewrite (Rmult_comm (_ * _)).
    apply Rmult_le_compat_l; [apply expected_weight_nonneg; assumption | apply each; assumption]. }
  apply Rmult_le_compat_l with (r := weight_sum A n * server_size A ^ 2) in sums;
    [lra | apply Rmult_le_pos; [assumption | apply pow2_ge_0]].
Qed.

(** What one step changes of the losses. *)
Lemma product_below n k u : (n < updates A)%nat -> (k < steps A)%nat -> ‖u‖² <= B_g ^ 2 ->
  - (largest_weight_sum A * B_g ^ 2) <= ⟨applied A n k, u⟩ <= largest_weight_sum A * B_g ^ 2.
Proof.
  intros Hn Hk Hu. rewrite applied_is_given. pose proof (weight_sum_below A n Hn) as below.
  assert (most : weight_sum A n * B_g ^ 2 <= largest_weight_sum A * B_g ^ 2)
    by (apply Rmult_le_compat_r; [apply pow2_ge_0 | assumption]).
  assert (pair : forall i, (i < number C)%nat -> - B_g ^ 2 <= ⟨sample A n k i, u⟩ <= B_g ^ 2).
  { intros i Hi. pose proof (bound_of_samples _ bounded n k i Hn Hk Hi) as H. set (g := sample A n k i) in *.
    pose proof (dot_self V (g - u)%vec) as H1. pose proof (dot_self V (g + u)%vec) as H2. revert H1 H2. expand_dots.
    rewrite ?(dot_comm V u g). lra. }
  split.
  - apply Rle_trans with (total (fun i => - B_g ^ 2 * q_i n i)).
    + rewrite sum_scale. fold (weight_sum A n). lra.
    + apply sum_le. intros i Hi. rewrite Rmult_comm. apply Rmult_le_compat_l; [apply expected_weight_nonneg |]; [assumption | apply pair; assumption].
  - apply Rle_trans with (total (fun i => B_g ^ 2 * q_i n i)).
    + apply sum_le. intros i Hi. rewrite (Rmult_comm (B_g ^ 2)).
      apply Rmult_le_compat_l; [apply expected_weight_nonneg; assumption | apply pair; assumption].
    + rewrite sum_scale. fold (weight_sum A n). lra.
Qed.

Context (cups : convex_clients A).

Lemma size_positive : 0 < server_size A * local_size A.
Proof. apply Rmult_lt_0_compat; [apply server_size_positive | apply local_size_positive]. Qed.

Lemma moved n k u : ⟨u, virtual A n (S k) - virtual A n k⟩ = - (server_size A * local_size A) * ⟨applied A n k, u⟩.
Proof. cbn [virtual]. fold (applied A n k). rewrite dot_comm, !dot_minus, dot_scale. ring. Qed.

Lemma flipped (u x y : V) : ⟨u, x - y⟩ = - ⟨u, y - x⟩.
Proof. rewrite !(dot_comm V u), !dot_minus. ring. Qed.

Lemma loss_rises n k i : (n < updates A)%nat -> (k < steps A)%nat -> (i < number C)%nat ->
  virtual_loss_change n k i <= B_g ^ 2 * largest_weight_sum A * local_size A * server_size A.
Proof.
  intros Hn Hk Hi. pose proof (cups i Hi (virtual A n k) (virtual A n (S k))) as H. unfold gap in H.
  pose proof (product_below n k _ Hn Hk (bound_of_slopes _ bounded n (S k) i Hn Hk Hi)) as [low _].
  assert (E : ⟨grad (L_i i) (virtual A n (S k)), virtual A n k - virtual A n (S k)⟩
    = server_size A * local_size A * ⟨applied A n k, grad (L_i i) (virtual A n (S k))⟩).
  { rewrite flipped, moved. ring. }
  rewrite E in H. pose proof size_positive. unfold virtual_loss_change.
  apply Rmult_le_compat_l with (r := server_size A * local_size A) in low; lra.
Qed.

Lemma loss_falls n k i : (n < updates A)%nat -> (k < steps A)%nat -> (i < number C)%nat ->
  - virtual_loss_change n k i <= B_g ^ 2 * largest_weight_sum A * local_size A * server_size A.
Proof.
  intros Hn Hk Hi. pose proof (cups i Hi (virtual A n (S k)) (virtual A n k)) as H. unfold gap in H.
  pose proof (product_below n k _ Hn Hk (bound_of_slopes _ bounded n k i Hn (Nat.lt_le_incl _ _ Hk) Hi)) as [_ high].
  rewrite moved in H. pose proof size_positive. unfold virtual_loss_change.
  apply Rmult_le_compat_l with (r := server_size A * local_size A) in high; lra.
Qed.

(** (24) and (25): the losses of two updates of a window. *)
Context (scheme : aggregation_scheme A).
Notation c := (B_g ^ 2 * largest_weight_sum A * local_size A * server_size A).
Notation loss n k i := (value (L_i i) (virtual A n k)).

Lemma bound_nonneg : 0 <= c.
Proof.
  pose proof (at_least_one A). pose proof (local_size_positive A). pose proof (server_size_positive A).
  sign.
Qed.

Lemma update_ends n i : (i < number C)%nat -> loss n (steps A) i = loss (S n) O i.
Proof.
  intros Hi. pose proof (virtual_ends A (virtual A n (steps A)) n scheme) as E. unfold distance_sq, server_distance_sq in E.
  set (x := virtual A n (steps A)) in *. change (virtual A (S n) 0) with (model A (S n)). set (y := model A (S n)) in *.
  assert (same : ‖y - x‖² = 0) by (rewrite minus_self, dot_zero in E; lra).
  assert (none : forall w, ⟨w, y - x⟩ = 0).
  { intros w. pose proof (cauchy_schwarz w (y - x)%vec) as S. rewrite same, Rmult_0_r in S.
    set (s := ⟨w, y - x⟩) in *. nra. }
  pose proof (cups i Hi y x) as up. pose proof (cups i Hi x y) as down. unfold gap in *.
  rewrite none in up. rewrite flipped, none in down. lra.
Qed.

Lemma steps_apart n i a m : (n < updates A)%nat -> (i < number C)%nat -> (a + m <= steps A)%nat ->
  - (INR m * c) <= loss n (a + m) i - loss n a i <= INR m * c.
Proof.
  intros Hn Hi. induction m as [| m IH]; intros Hm; [rewrite Nat.add_0_r; simpl; lra |].
  specialize (IH ltac:(lia)). rewrite S_INR, Nat.add_succ_r.
  pose proof (loss_rises n (a + m) i Hn ltac:(lia) Hi) as up. pose proof (loss_falls n (a + m) i Hn ltac:(lia) Hi) as down.
  unfold virtual_loss_change in *. lra.
Qed.

Lemma one_update_apart n k i : (S n < updates A)%nat -> (k < steps A)%nat -> (i < number C)%nat ->
  - (K_of A * c) <= loss (S n) k i - loss n k i <= K_of A * c.
Proof.
  intros Hn Hk Hi. pose proof (steps_apart n i k (steps A - k) ltac:(lia) Hi ltac:(lia)) as first.
  pose proof (steps_apart (S n) i O k ltac:(lia) Hi ltac:(lia)) as second.
  replace (k + (steps A - k))%nat with (steps A) in first by lia. rewrite update_ends in first by assumption.
  cbn [Nat.add] in second. unfold K_of. rewrite minus_INR in first by lia. lra.
Qed.

Lemma updates_apart n m k i : (n + m < updates A)%nat -> (k < steps A)%nat -> (i < number C)%nat ->
  - (INR m * (K_of A * c)) <= loss (n + m) k i - loss n k i <= INR m * (K_of A * c).
Proof.
  intros Hn Hk Hi. induction m as [| m IH]; [rewrite Nat.add_0_r; simpl; lra |].
  specialize (IH ltac:(lia)). rewrite S_INR, Nat.add_succ_r in *.
  pose proof (one_update_apart (n + m) k i Hn Hk Hi). lra.
Qed.

Lemma within_a_window W b n m k i : (b * W + W <= updates A)%nat -> (n < W)%nat -> (m < W)%nat -> (k < steps A)%nat ->
  (i < number C)%nat -> loss (b * W + n) k i - loss (b * W + m) k i <= (INR W - 1) * (K_of A * c).
Proof.
  intros Hb Hn Hm Hk Hi. pose proof bound_nonneg as positive. pose proof (K_at_least_one A).
  assert (0 <= K_of A * c) by (apply Rmult_le_pos; lra).
  assert (far : forall d, (d < W)%nat -> INR d * (K_of A * c) <= (INR W - 1) * (K_of A * c)).
  { intros d Hd. apply Rmult_le_compat_r; [assumption |]. replace (INR W - 1) with (INR (W - 1));
      [apply le_INR; lia | rewrite minus_INR by lia; reflexivity]. }
  destruct (Nat.le_gt_cases m n) as [later | earlier].
  - pose proof (updates_apart (b * W + m) (n - m) k i ltac:(lia) Hk Hi) as away.
    replace (b * W + m + (n - m))%nat with (b * W + n)%nat in away by lia. pose proof (far (n - m)%nat ltac:(lia)). lra.
  - pose proof (updates_apart (b * W + n) (m - n) k i ltac:(lia) Hk Hi) as away.
    replace (b * W + n + (m - n))%nat with (b * W + m)%nat in away by lia. pose proof (far (m - n)%nat ltac:(lia)). lra.
Qed.

Lemma mean_weight_of_window W b i : is_window A W -> (b * W + W <= updates A)%nat -> (i < number C)%nat ->
  INR W * mean_weight A i = window_weight W b i.
Proof.
  intros [positive [blocks [Hall same]]] Hb Hi. unfold mean_weight, mean_over_updates, N_of, window_weight.
  pose proof (some_updates A) as some. assert (0 < blocks)%nat by (destruct blocks; lia).
  assert (Hbb : (b < blocks)%nat) by (rewrite Hall in Hb; nia).
  rewrite Hall, Schedule.sum_of_blocks, (sum_ext _ _ (fun _ => sum W (fun n => q_i n i)))
    by (intros; apply same; assumption).
  rewrite sum_const, (same b i Hbb Hi), mult_INR. field.
  split; apply not_0_INR; lia.
Qed.

Lemma window_below W b i : is_window A W -> (b * W + W <= updates A)%nat -> (i < number C)%nat ->
  window_loss W b i <= B_g ^ 2 * K_of A ^ 2 * (INR W - 1) * largest_weight_sum A * local_size A * server_size A
    * window_weight W b i + window_round_loss W b i.
Proof.
  intros window Hb Hi. pose proof (mean_weight_of_window W b i window Hb Hi) as mean_w.
  pose proof (proj1 window) as positive. assert (some : 0 < INR W) by (apply lt_0_INR; assumption).
  assert (E : INR W * (window_loss W b i - window_round_loss W b i)
    = sum W (fun m => sum W (fun n => q_i (b * W + m)%nat i * (losses (b * W + n) i - losses (b * W + m) i)))).
  { unfold window_loss, window_round_loss. rewrite sum_scale, Rmult_minus_distr_l, <- Rmult_assoc, mean_w.
    rewrite (sum_ext _ (fun m => sum W _) (fun m => sum W (fun n => losses (b * W + n) i) * q_i (b * W + m)%nat i
      - INR W * (q_i (b * W + m)%nat i * losses (b * W + m) i))).
    - rewrite sum_minus, !sum_scale. unfold window_weight. ring.
    - intros m _. rewrite (sum_ext _ _ (fun n => q_i (b * W + m)%nat i * losses (b * W + n) i
        - q_i (b * W + m)%nat i * losses (b * W + m) i)) by (intros; ring).
      rewrite sum_minus, sum_scale, sum_const. ring. }
  assert (most : sum W (fun m => sum W (fun n => q_i (b * W + m)%nat i * (losses (b * W + n) i - losses (b * W + m) i)))
    <= sum W (fun m => INR W * (K_of A * ((INR W - 1) * (K_of A * c))) * q_i (b * W + m)%nat i)).
  { apply sum_le. intros m Hm.
    replace (INR W * (K_of A * ((INR W - 1) * (K_of A * c))) * q_i (b * W + m)%nat i)
      with (INR W * (q_i (b * W + m)%nat i * (K_of A * ((INR W - 1) * (K_of A * c))))) by ring.
    rewrite <- sum_const. apply sum_le. intros n Hn. apply Rmult_le_compat_l; [apply expected_weight_nonneg; assumption |].
    unfold losses. rewrite <- sum_minus. unfold K_of at 1. rewrite <- sum_const. apply sum_le. intros k Hk.
    apply within_a_window; assumption. }
  rewrite <- E, sum_scale in most. fold (window_weight W b i) in most.
  apply Rmult_le_reg_l with (INR W); [assumption |]. lra.
Qed.

(** Over all windows and clients. *)
Lemma windows_in_mean W bar : is_window A W -> mean_surrogate_suboptimality bar
  <= B_g ^ 2 * K_of A * mean_weight_sum A * (INR W - 1) * largest_weight_sum A * local_size A * server_size A
    + mean_surrogate_gap A bar.
Proof.
  intros window. destruct (proj2 window) as [blocks [Hall _]]. pose proof (proj1 window) as positive.
  pose proof (K_at_least_one A) as K_large. pose proof (N_at_least_one A) as N_large.
  pose proof (mean_of_objectives A bar) as mean_of.
  set (s := B_g ^ 2 * K_of A ^ 2 * (INR W - 1) * largest_weight_sum A * local_size A * server_size A).
  assert (H : sum (updates A) (fun n => total (fun i => mean_weight A i * losses n i - q_i n i * losses n i))
    <= s * (N_of A * mean_weight_sum A)).
  { unfold mean_weight_sum. rewrite mean_weights_add_up. unfold mean_over_updates, weight_sum.
    replace (N_of A * (1 / N_of A * sum (updates A) (fun n => total (q_i n))))
      with (sum (updates A) (fun n => total (q_i n))) by (field; lra).
    rewrite <- sum_scale. rewrite Hall, !Schedule.sum_of_blocks. apply sum_le. intros b Hb.
    rewrite sum_swap. rewrite (sum_ext W (fun n => s * _) (fun n => total (fun i => s * q_i (b * W + n)%nat i)))
      by (intros; rewrite sum_scale; reflexivity).
    rewrite (sum_swap W). apply sum_le. intros i Hi.
    pose proof (window_below W b i window ltac:(rewrite Hall; nia) Hi) as one. fold s in one.
    unfold window_loss, window_round_loss, window_weight in one. rewrite sum_minus, (sum_scale W s). lra. }
  unfold mean_surrogate_suboptimality, mean_surrogate_gap, mean_over_updates.
  assert (each : forall n, surrogate_suboptimality bar n = surrogate_gap A bar n
    + 1 / K_of A * total (fun i => mean_weight A i * losses n i - q_i n i * losses n i)
    + (value (round_objective A n) bar - value (surrogate A) bar)).
  { intros n. unfold surrogate_suboptimality, surrogate_suboptimality_at, surrogate_gap, mean_over_steps.
    rewrite !sum_minus, !sum_const. fold (K_of A).
    assert (swap : forall w, sum (steps A) (fun k => value (sum_objective A w) (virtual A n k)) = total (fun i => w i * losses n i)).
    { intros w. cbn [value sum_objective]. rewrite <- sum_swap. apply sum_ext. intros i _. unfold losses.
      rewrite <- sum_scale. apply sum_ext. intros; ring. }
    unfold surrogate at 1, round_objective at 1. rewrite !swap. field. lra. }
  rewrite (sum_ext _ _ _ (fun n _ => each n)), !sum_plus, sum_scale, sum_minus, sum_const. fold (N_of A).
  assert (zero : 1 / N_of A * (sum (updates A) (fun n => value (round_objective A n) bar) - N_of A * value (surrogate A) bar) = 0).
  { pose proof (surrogate_by_values A bar). unfold mean_over_updates in mean_of.
    replace (1 / N_of A * (sum (updates A) (fun n => value (round_objective A n) bar) - N_of A * value (surrogate A) bar))
      with (1 / N_of A * sum (updates A) (fun n => value (round_objective A n) bar) - value (surrogate A) bar) by (field; lra).
    lra. }
  apply Rmult_le_compat_l with (r := 1 / N_of A * (1 / K_of A)) in H;
    [| apply Rmult_le_pos; apply Rlt_le, Rdiv_lt_0_compat; lra].
  replace (1 / N_of A * (1 / K_of A) * (s * (N_of A * mean_weight_sum A)))
    with (B_g ^ 2 * K_of A * mean_weight_sum A * (INR W - 1) * largest_weight_sum A * local_size A * server_size A) in H
    by (unfold s; field; lra).
  lra.
Qed.
End Given.

(** The federated problem at the virtual iterates, by the surrogate one. *)
Section Gradient.
Context (L : R) (positive : 0 < L) (cups : convex_clients A) (bends : smooth_clients A L).
Context (own : nat -> V) (optima : forall i, minimiser A (L_i i) (own i)).
Context (bar : V) (best : minimiser A (surrogate A) bar).
Context (everybody : forall i, (i < number C)%nat -> 0 < mean_weight A i).
Notation s_i := mean_weight_share.

Lemma mean_sum_positive : 0 < mean_weight_sum A.
Proof. apply Schedule.sum_positive; [apply several | exact everybody]. Qed.

Lemma mean_share_positive i : (i < number C)%nat -> 0 < s_i i.
Proof. intros Hi. apply Rdiv_lt_0_compat; [apply everybody; assumption | apply mean_sum_positive]. Qed.

Lemma over_mean_weights f : total (fun i => s_i i * f i) = total (fun i => mean_weight A i * f i) / mean_weight_sum A.
Proof.
  unfold mean_weight_share, Rdiv. rewrite (Rmult_comm (total _)), <- sum_scale. apply sum_ext. intros. ring.
Qed.

Lemma mean_shares_add_up : total (fun i => s_i i) = 1.
Proof.
  pose proof mean_sum_positive. rewrite (sum_ext _ _ (fun i => s_i i * 1)) by (intros; ring).
  rewrite over_mean_weights, (sum_ext _ _ (mean_weight A)) by (intros; ring). fold (mean_weight_sum A). field. lra.
Qed.

Lemma mean_share_of_type j : mean_type_share A j = of_type A s_i j.
Proof.
  unfold mean_type_share, of_type, mean_weight_share, Rdiv. rewrite Rmult_comm, <- sum_scale. apply sum_ext.
  intros i _. destruct (Nat.eqb (type_of A i) j); ring.
Qed.

Lemma mean_type_share_nonneg j : 0 <= mean_type_share A j.
Proof. rewrite mean_share_of_type. apply of_type_nonneg. intros i Hi. pose proof (mean_share_positive i Hi). lra. Qed.

Definition mean_pull (j : nat) : R :=
  if Req_EM_T (mean_type_share A j) 0 then 0 else (type_importance A j - mean_type_share A j) / mean_type_share A j.

Lemma none_missing j : mean_type_share A j = 0 -> type_importance A j = 0.
Proof.
  intros zero. unfold type_importance, of_type. apply zero_clients. intros i Hi.
  destruct (Nat.eqb (type_of A i) j) eqn:here; [| reflexivity]. exfalso. pose proof (mean_share_positive i Hi).
  assert (s_i i <= mean_type_share A j); [| lra]. rewrite mean_share_of_type. unfold of_type.
  apply Rle_trans with (total (fun l => if Nat.eqb l i then if Nat.eqb (type_of A l) j then s_i l else 0 else 0)).
  - rewrite (sum_single _ _ i Hi); [rewrite Nat.eqb_refl, here; lra |].
    intros l _ other. destruct (Nat.eqb_spec l i); [contradiction | reflexivity].
  - apply sum_le. intros l Hl. pose proof (mean_share_positive l Hl).
    destruct (Nat.eqb l i), (Nat.eqb (type_of A l) j); lra.
Qed.

Lemma importance_by_pull j : type_importance A j = mean_type_share A j * mean_pull j + mean_type_share A j.
Proof.
  unfold mean_pull. destruct (Req_EM_T (mean_type_share A j) 0) as [zero |]; [| field; assumption].
  rewrite (none_missing j zero), zero. ring.
Qed.

Lemma mean_misfit_by_pull : mean_chi_sq A = total (fun j => mean_type_share A j * mean_pull j ^ 2).
Proof.
  unfold mean_chi_sq, misfit, mean_pull. apply sum_ext. intros j _.
  destruct (Req_EM_T (mean_type_share A j) 0); [ring |]. field. assumption.
Qed.

Lemma mean_chi_nonneg : 0 <= mean_chi_sq A.
Proof.
  rewrite mean_misfit_by_pull. apply sum_nonneg. intros.
  apply Rmult_le_pos; [apply mean_type_share_nonneg | apply pow2_ge_0].
Qed.

Lemma slope_of_surrogate w : total (fun i => s_i i * ⟨grad (L_i i) bar, w⟩) = 0.
Proof.
  rewrite over_mean_weights. pose proof (cauchy_schwarz (grad (surrogate A) bar) w) as S.
  rewrite (proj1 best), Rmult_0_l in S. assert (zero : ⟨grad (surrogate A) bar, w⟩ = 0).
  { set (x := ⟨grad (surrogate A) bar, w⟩) in *. nra. }
  cbn [grad surrogate sum_objective] in zero. rewrite dot_vsum in zero.
  rewrite (sum_ext _ _ (fun i => ⟨mean_weight A i • grad (L_i i) bar, w⟩)) by (intros; rewrite dot_scale; reflexivity).
  rewrite zero. unfold Rdiv. ring.
Qed.

Lemma surrogate_gaps n k : total (fun i => s_i i * (value (L_i i) (virtual A n k) - value (L_i i) bar))
  = surrogate_suboptimality_at bar n k / mean_weight_sum A.
Proof.
  rewrite over_mean_weights. f_equal. unfold surrogate_suboptimality_at. cbn [value surrogate sum_objective].
  rewrite <- sum_minus. apply sum_ext. intros; ring.
Qed.

Lemma gradient_below n k : slope_sq A (federated A) n k
  <= 4 * L * mean_chi_sq A * total (fun i => client_gap_at_surrogate_optimum own bar i * s_i i)
    + 4 * L * (1 + mean_chi_sq A) * (surrogate_suboptimality_at bar n k / mean_weight_sum A).
Proof.
  set (x := virtual A n k).
  set (P := vsum (number C) (fun j => (mean_type_share A j * mean_pull j) • grad (L_i j) x)%vec).
  set (N := vsum (number C) (fun i => (s_i i * 1) • (grad (L_i i) x - grad (L_i i) bar))%vec).
  assert (E : forall w, ⟨grad (federated A) x, w⟩ = ⟨P + N, w⟩).
  { intros w. unfold federated, P, N. rewrite dot_plus, slopes_over_types, !dot_vsum.
    rewrite (sum_ext _ (fun i => ⟨(s_i i * 1) • (grad (L_i i) x - grad (L_i i) bar), w⟩)
      (fun i => ⟨grad (L_i i) x, w⟩ * s_i i - s_i i * ⟨grad (L_i i) bar, w⟩))
      by (intros; rewrite dot_scale, dot_minus; ring).
    rewrite sum_minus, slope_of_surrogate.
    rewrite <- (sum_over_types A (fun i => ⟨grad (L_i i) x, w⟩) s_i) by (intros; rewrite same_objective; reflexivity).
    rewrite Rminus_0_r, <- sum_plus. apply sum_ext. intros j _. fold (type_importance A j).
    rewrite dot_scale, <- mean_share_of_type, (importance_by_pull j) at 1. ring. }
  unfold slope_sq. fold x. rewrite E, dot_comm, E.
  pose proof (weighted_square A (number C) (mean_type_share A) mean_pull (fun j => grad (L_i j) x)
    (fun j _ => mean_type_share_nonneg j)) as one.
  pose proof (weighted_square A (number C) s_i (fun _ => 1) (fun i => (grad (L_i i) x - grad (L_i i) bar)%vec)
    (fun i Hi => Rlt_le _ _ (mean_share_positive i Hi))) as two.
  cbv beta in one, two. fold P in one. fold N in two. rewrite <- mean_misfit_by_pull in one.
  assert (types : total (fun j => mean_type_share A j * ‖grad (L_i j) x‖²) = total (fun i => client_slope_sq A n k i * s_i i)).
  { rewrite <- (sum_over_types A (client_slope_sq A n k) s_i (slopes_of_types A n k)). apply sum_ext.
    intros j _. rewrite mean_share_of_type. unfold client_slope_sq. fold x. ring. }
  rewrite types in one. rewrite (sum_ext _ (fun i => s_i i * 1 ^ 2) (fun i => s_i i)), mean_shares_add_up, Rmult_1_l in two
    by (intros; ring).
  pose proof (slopes_by_gaps A L positive cups bends own optima n k s_i (fun i Hi => Rlt_le _ _ (mean_share_positive i Hi))) as gaps.
  pose proof (surrogate_gaps n k) as D. set (d := surrogate_suboptimality_at bar n k / mean_weight_sum A) in *.
  assert (split : total (fun i => virtual_client_gap A own n k i * s_i i)
    = d + total (fun i => client_gap_at_surrogate_optimum own bar i * s_i i)).
  { rewrite <- D, <- sum_plus. apply sum_ext. intros. unfold virtual_client_gap, client_gap_at_surrogate_optimum. ring. }
  rewrite split in gaps. pose proof mean_chi_nonneg as chi.
  apply Rmult_le_compat_l with (r := mean_chi_sq A) in gaps; [| assumption].
  assert (mean_slope : total (fun i => s_i i * ‖grad (L_i i) x - grad (L_i i) bar‖²) <= 2 * L * d).
  { assert (F : total (fun i => s_i i * gap (L_i i) x bar) = d).
    { unfold gap. rewrite (sum_ext _ _ (fun i => s_i i * (value (L_i i) x - value (L_i i) bar)
        - s_i i * ⟨grad (L_i i) bar, x - bar⟩)) by (intros; ring).
      rewrite sum_minus, slope_of_surrogate. rewrite <- D. unfold x. ring. }
    rewrite <- F, <- sum_scale. apply sum_le. intros i Hi.
    replace (2 * L * (s_i i * gap (L_i i) x bar)) with (s_i i * (2 * L * gap (L_i i) x bar)) by ring.
    apply Rmult_le_compat_l; [apply Rlt_le, mean_share_positive; assumption |].
    pose proof (cocoercive (L_i i) L x bar positive (cups i Hi) (bends i Hi)) as above.
    apply Rmult_le_compat_l with (r := 2 * L) in above; [| lra].
    replace (2 * L * (gap (L_i i) x bar - ‖grad (L_i i) x - grad (L_i i) bar‖² / (2 * L)))
      with (2 * L * gap (L_i i) x bar - ‖grad (L_i i) x - grad (L_i i) bar‖²) in above by (field; lra). lra. }
  pose proof (dot_self V (P - N)%vec) as H. revert H. expand_dots. rewrite (dot_comm V N P). intros H. lra.
Qed.
End Gradient.
End Definitions.
