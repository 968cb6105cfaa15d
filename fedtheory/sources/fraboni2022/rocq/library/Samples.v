(** Updates with the draws that their clients compute gradients with, each at three points: the client's iterate, the
    virtual iterate, and the optimum of the update.

    Fraboni et al. (2022), (44), (45), Lemma 2, (64) to (68), and the proof of Lemma 5. *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives Stale Weights.
Require Run.
Open Scope R_scope.

Section Definitions.
Context (A : server).
Notation V := (space_of A).
Notation C := (clients_of A).
Notation L_i := (objective_of A).
Notation q_i := (expected_weight A).
Notation total := (sum (number C)).
Notation share_of := (weight_share A).

(** What client i draws at step k of its work for update n is an objective, [draw n k i], with mean L_i.  [past n k] are
    the vectors that do not depend on the draws of that step, and [fixed] those that do not depend on any: their second
    moments are the same at all steps.  The draws of two clients are independent. *)
Record unbiased_draws (fixed : V -> Prop) (past : nat -> nat -> V -> Prop) (draw : nat -> nat -> nat -> objective V)
  : Prop := {
  past_fixed : forall n k u, fixed u -> past n k u;
  past_plus : forall n k u v, past n k u -> past n k v -> past n k (plus u v);
  past_scale : forall n k c u, past n k u -> past n k (scale c u);
  past_gradient : forall n k i u, past n k u -> past n k (grad (L_i i) u);
  past_local : forall n k i, past n k (local A n k i);
  past_virtual : forall n k, past n k (virtual A n k);
  draw_sampled : forall n k i, (i < number C)%nat -> sample A n k i = grad (draw n k i) (local A n k i);
  draw_value : forall n k i u, (i < number C)%nat -> past n k u -> value (draw n k i) u = value (L_i i) u;
  draw_slope : forall n k i u v, (i < number C)%nat -> past n k u -> past n k v ->
    ⟨grad (draw n k i) u, v⟩ = ⟨grad (L_i i) u, v⟩;
  draws_apart : forall n k i j u v, (i < number C)%nat -> (j < number C)%nat -> i <> j -> past n k u -> past n k v ->
    ⟨grad (draw n k i) u, grad (draw n k j) v⟩ = ⟨grad (L_i i) u, grad (L_i j) v⟩;
  same_law : forall n k l i u, fixed u -> ‖grad (draw n k i) u‖² = ‖grad (draw n l i) u‖² }.

(** L_xi: every draw is convex and smooth with it, and so are their means. *)
Record smooth_draws (L_xi : R) (draw : nat -> nat -> nat -> objective V) : Prop := {
  draw_convex : forall n k i, (i < number C)%nat -> convex (draw n k i);
  draw_smooth : forall n k i, (i < number C)%nat -> smooth L_xi (draw n k i);
  means_convex : convex_clients A;
  means_smooth : smooth_clients A L_xi }.

(** The weights of an update are independent of its samples and of the model that it starts from. *)
Record independent_weights (fixed : V -> Prop) (known : nat -> V -> Prop) : Prop := {
  known_fixed : forall n u, fixed u -> known n u;
  known_model : forall n, known n (model A n);
  known_sample : forall n k i, known n (sample A n k i);
  weight_apart : forall n i u v, (i < number C)%nat -> known n u -> known n v ->
    ⟨weighed A n i u, v⟩ = q_i n i * ⟨u, v⟩ }.

(** kappa. *)
Definition spread_factor (alpha : R) (d : nat -> nat -> R) : R :=
  1 + server_size A ^ 2 * largest_weight_sum A * weight_excess A alpha d
  + Rmax 0 (server_size A * largest_weight_sum A * (alpha * (server_size A * largest_weight_sum A) - 2)).

(** How far clients are from the virtual iterate, and what moves them apart. *)
Definition client_distance_sq (n k i : nat) : R := ‖local A n k i - virtual A n k‖².
Definition past_applied_spread (n k i : nat) : R :=
  sum k (fun l => ‖sample A n l i - server_size A • applied A n l‖²).
Definition past_mean_square_gradient (n k : nat) : R := sum k (step_square A n).
Definition selected_alignment (bar : V) (n : nat) : R :=
  mean_over_steps A (fun k => ⟨applied A n k, virtual A n k - bar⟩).
Definition mean_step_length_sq : R := mean_over_updates A (step_length_sq A).

Section Draws.
Context (draw : nat -> nat -> nat -> objective V).
Definition at_virtual (n k i : nat) : V := grad (draw n k i) (virtual A n k).
Definition virtual_second_moment (n k i : nat) : R := ‖at_virtual n k i‖².
Definition mixed_noise (n k : nat) : R :=
  ‖vsum (number C) (fun i => share_of n i • (at_virtual n k i - grad (L_i i) (virtual A n k)))‖².
Definition stale_change (n k i : nat) : R := ‖sample A n k i - at_virtual n k i‖².
Definition mixed_change (n k : nat) : R :=
  ‖vsum (number C) (fun i => share_of n i • (sample A n k i - at_virtual n k i))‖².

(** At the optimum of L^n: sigma_1(n), sigma_2(n) and their means. *)
Context (bar_n : nat -> V).
Definition change_from_optimum (n k i : nat) : R := ‖at_virtual n k i - grad (draw n k i) (bar_n n)‖².
Definition optimum_moment (n i : nat) : R := ‖grad (draw n O i) (bar_n n)‖².
Definition optimum_noise (n : nat) : R := total (fun i => share_of n i * optimum_moment n i).
Definition mixed_optimum_noise (n : nat) : R := total (fun i => share_of n i ^ 2 * optimum_moment n i).
Definition mean_optimum_noise : R := mean_over_updates A optimum_noise.
Definition mean_mixed_optimum_noise : R := mean_over_updates A mixed_optimum_noise.
Definition round_gap_at (n k : nat) : R :=
  value (round_objective A n) (virtual A n k) - value (round_objective A n) (bar_n n).
End Draws.

(** Shares. *)
Lemma total_nonneg n : 0 <= weight_sum A n.
Proof. apply sum_nonneg. intros. apply expected_weight_nonneg. assumption. Qed.

Lemma share_nonneg_of n i : (i < number C)%nat -> 0 <= share_of n i.
Proof.
  intros Hi. pose proof (expected_weight_nonneg A n i Hi). pose proof (total_nonneg n). unfold weight_share, Rdiv.
  destruct (Req_dec (weight_sum A n) 0) as [-> |]; [rewrite Rinv_0; lra |].
  apply Rmult_le_pos; [assumption |]. apply Rlt_le, Rinv_0_lt_compat. lra.
Qed.

Lemma shares_at_most_one n : total (share_of n) <= 1.
Proof.
  unfold weight_share. rewrite (sum_ext _ _ (fun i => / weight_sum A n * q_i n i)) by (intros; unfold Rdiv; ring).
  rewrite sum_scale. fold (weight_sum A n). pose proof (total_nonneg n).
  destruct (Req_dec (weight_sum A n) 0) as [-> |]; [lra |]. right. field. assumption.
Qed.

Lemma share_at_most_one n i : (i < number C)%nat -> share_of n i <= 1.
Proof.
  intros Hi. apply Rle_trans with (2 := shares_at_most_one n).
  rewrite <- (Rplus_0_r (share_of n i)). replace (share_of n i + 0) with
    (total (fun j => if Nat.eqb j i then share_of n j else 0)).
  - apply sum_le. intros j Hj. pose proof (share_nonneg_of n j Hj). destruct (Nat.eqb j i); lra.
  - rewrite (sum_single _ _ i Hi); [rewrite Nat.eqb_refl; lra |].
    intros j _ other. destruct (Nat.eqb_spec j i); [contradiction | reflexivity].
Qed.

Lemma mean_below n (v : nat -> V) :
  ‖vsum (number C) (fun i => share_of n i • v i)‖² <= total (fun i => share_of n i * ‖v i‖²).
Proof.
  set (m := vsum (number C) (fun i => share_of n i • v i)%vec).
  assert (H : 0 <= total (fun i => share_of n i * ‖v i - m‖²)).
  { apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply share_nonneg_of; assumption | apply dot_self]. }
  assert (E : total (fun i => share_of n i * ‖v i - m‖²)
    = total (fun i => share_of n i * ‖v i‖²) - 2 * ‖m‖² + ‖m‖² * total (share_of n)).
  { replace (2 * ‖m‖²) with (2 * total (fun i => share_of n i * ⟨v i, m⟩)).
    - rewrite <- !sum_scale, <- sum_minus, <- sum_plus. apply sum_ext. intros i _. expand_dots.
      rewrite (dot_comm V m (v i)). ring.
    - f_equal. unfold m at 2. rewrite dot_vsum. apply sum_ext. intros. rewrite dot_scale. reflexivity. }
  pose proof (shares_at_most_one n). pose proof (dot_self V m).
  assert (‖m‖² * total (share_of n) <= ‖m‖² * 1) by (apply Rmult_le_compat_l; assumption). lra.
Qed.

Lemma sum_of_shares n f : total (fun i => share_of n i * f i) = total (fun i => q_i n i * f i) / weight_sum A n.
Proof.
  unfold weight_share, Rdiv. rewrite (Rmult_comm (total _)), <- sum_scale. apply sum_ext. intros. ring.
Qed.

(** (44). *)
Lemma mean_square_below n k : square_mean_at A n k <= total (fun i => gradient_sq A n k i * share_of n i).
Proof.
  apply Rle_trans with (1 := mean_below n (sample A n k)). right. apply sum_ext. intros. unfold gradient_sq. ring.
Qed.

Section At_optimum.
Context (bar_n : nat -> V) (n : nat) (minimiser_bar_n : minimiser A (round_objective A n) (bar_n n)).

Lemma no_slope_there v : ⟨grad (round_objective A n) (bar_n n), v⟩ = 0.
Proof.
  pose proof (cauchy_schwarz (grad (round_objective A n) (bar_n n)) v) as H.
  rewrite (proj1 minimiser_bar_n), Rmult_0_l in H.
  set (x := ⟨grad (round_objective A n) (bar_n n), v⟩) in *. nra.
Qed.

(** What the draws gain over the optimum of the update is what the update gains. *)
Lemma gaps_of_draws k : total (fun i => share_of n i * gap (L_i i) (virtual A n k) (bar_n n))
  = round_gap_at bar_n n k / weight_sum A n.
Proof.
  rewrite sum_of_shares. f_equal. unfold round_gap_at, gap. cbn [value round_objective sum_objective].
  rewrite <- sum_minus.
  rewrite (sum_ext _ (fun i => q_i n i * _) (fun i => (value (L_i i) (virtual A n k) * q_i n i
    - value (L_i i) (bar_n n) * q_i n i) - q_i n i * ⟨grad (L_i i) (bar_n n), virtual A n k - bar_n n⟩))
    by (intros; ring).
  rewrite sum_minus. pose proof (no_slope_there (virtual A n k - bar_n n)%vec) as H.
  cbn [grad round_objective sum_objective] in H. rewrite dot_vsum in H.
  rewrite (sum_ext _ (fun i => ⟨q_i n i • grad (L_i i) (bar_n n), _⟩)
    (fun i => q_i n i * ⟨grad (L_i i) (bar_n n), virtual A n k - bar_n n⟩)) in H by (intros; apply dot_scale).
  rewrite H. ring.
Qed.

End At_optimum.

Lemma slopes_below L (positive : 0 < L) (cups : convex_clients A) (bends : smooth_clients A L) bar_n n
  (best : minimiser A (round_objective A n) (bar_n n)) k : ‖grad (shared_objective A n) (virtual A n k)‖² <= 2 * L * (round_gap_at bar_n n k / weight_sum A n).
Proof.
  assert (E : forall w, ⟨grad (shared_objective A n) (virtual A n k), w⟩ = ⟨vsum (number C)
    (fun i => share_of n i • (grad (L_i i) (virtual A n k) - grad (L_i i) (bar_n n))), w⟩).
  { intros w. cbn [grad shared_objective sum_objective]. rewrite !dot_vsum.
    pose proof (no_slope_there bar_n n best w) as H. cbn [grad round_objective sum_objective] in H. rewrite dot_vsum in H.
    assert (Z : total (fun i => share_of n i * ⟨grad (L_i i) (bar_n n), w⟩) = 0).
    { rewrite sum_of_shares. rewrite (sum_ext _ _ (fun i => ⟨q_i n i • grad (L_i i) (bar_n n), w⟩))
        by (intros; rewrite dot_scale; reflexivity). rewrite H. unfold Rdiv. ring. }
    rewrite (sum_ext _ (fun i => ⟨share_of n i • (_ - _), w⟩) (fun i => ⟨share_of n i • grad (L_i i) (virtual A n k), w⟩
      - share_of n i * ⟨grad (L_i i) (bar_n n), w⟩)) by (intros; rewrite !dot_scale, dot_minus; ring).
    rewrite sum_minus, Z. ring. }
  rewrite E, dot_comm, E. apply Rle_trans with (1 := mean_below n _).
  rewrite <- (gaps_of_draws bar_n n best), <- sum_scale. apply sum_le. intros i Hi. pose proof (share_nonneg_of n i Hi).
  replace (2 * L * (share_of n i * gap (L_i i) (virtual A n k) (bar_n n)))
    with (share_of n i * (2 * L * gap (L_i i) (virtual A n k) (bar_n n))) by ring.
  apply Rmult_le_compat_l; [assumption |].
  pose proof (cocoercive (L_i i) L (virtual A n k) (bar_n n) positive (cups i Hi)
    (bends i Hi)) as above.
  apply Rmult_le_reg_r with (/ (2 * L)); [apply Rinv_0_lt_compat; lra |].
  unfold Rdiv in above. replace (2 * L * gap (L_i i) (virtual A n k) (bar_n n) * / (2 * L))
    with (gap (L_i i) (virtual A n k) (bar_n n)) by (field; lra). lra.
Qed.

Section Unbiased.
Context (draw : nat -> nat -> nat -> objective V) (fixed : V -> Prop) (past : nat -> nat -> V -> Prop).
Context (unbiased : unbiased_draws fixed past draw).

Lemma past_minus n k u v : past n k u -> past n k v -> past n k (minus u v).
Proof. intros. apply (past_plus _ _ _ unbiased); [| apply (past_scale _ _ _ unbiased)]; assumption. Qed.

Lemma noise_below n k i : (i < number C)%nat ->
  ‖at_virtual draw n k i - grad (L_i i) (virtual A n k)‖² <= virtual_second_moment draw n k i.
Proof.
  intros Hi. pose proof (past_virtual _ _ _ unbiased n k) as P.
  pose proof (draw_slope _ _ _ unbiased n k i _ _ Hi P (past_gradient _ _ _ unbiased n k i _ P)) as E.
  unfold virtual_second_moment, at_virtual in *. pose proof (dot_self V (grad (L_i i) (virtual A n k))) as H.
  revert H E. set (g := grad (draw n k i) _). set (m := grad (L_i i) _). intros H E. expand_dots.
  rewrite (dot_comm V m g). lra.
Qed.

Lemma mixed_noise_at_most n k :
  mixed_noise draw n k <= total (fun i => share_of n i ^ 2 * virtual_second_moment draw n k i).
Proof.
  pose proof (past_virtual _ _ _ unbiased n k) as P.
  unfold mixed_noise. rewrite square_of_sum. apply sum_le. intros i Hi.
  rewrite (sum_single _ _ i Hi).
  - rewrite dot_scale, dot_comm, dot_scale. pose proof (noise_below n k i Hi).
    replace (share_of n i ^ 2 * virtual_second_moment draw n k i)
      with (share_of n i * (share_of n i * virtual_second_moment draw n k i)) by ring.
    pose proof (share_nonneg_of n i Hi). repeat (apply Rmult_le_compat_l; [assumption |]). assumption.
  - intros j Hj other. rewrite dot_scale, dot_comm, dot_scale.
    assert (E : ⟨at_virtual draw n k j - grad (L_i j) (virtual A n k),
      at_virtual draw n k i - grad (L_i i) (virtual A n k)⟩ = 0).
    { unfold at_virtual. pose proof (draws_apart _ _ _ unbiased n k j i _ _ Hj Hi other P P) as both.
      pose proof (draw_slope _ _ _ unbiased n k j _ _ Hj P (past_gradient _ _ _ unbiased n k i _ P)) as one.
      pose proof (draw_slope _ _ _ unbiased n k i _ _ Hi P (past_gradient _ _ _ unbiased n k j _ P)) as two.
      revert both one two. set (a := grad (draw n k j) _). set (b := grad (draw n k i) _).
      set (x := grad (L_i j) _). set (y := grad (L_i i) _). intros both one two.
      expand_dots. rewrite (dot_comm V y a), (dot_comm V b a), (dot_comm V b x), ?(dot_comm V x b), ?(dot_comm V y x) in *. lra. }
    rewrite E. ring.
Qed.

(** (45). *)
Lemma mixed_noise_below n k :
  mixed_noise draw n k <= total (fun i => virtual_second_moment draw n k i * share_of n i ^ 2).
Proof. apply Rle_trans with (1 := mixed_noise_at_most n k). right. apply sum_ext. intros; ring. Qed.

Section Smooth.
Context (L_xi : R) (positive : 0 < L_xi) (smooth : smooth_draws L_xi draw).
Context (bar_n : nat -> V) (fixed_bar_n : forall n, fixed (bar_n n)).

Lemma moment_at_step n k i : ‖grad (draw n k i) (bar_n n)‖² = optimum_moment draw bar_n n i.
Proof. apply (same_law _ _ _ unbiased). apply fixed_bar_n. Qed.

(** (67): what a client samples is not far from what it would at the other two points. *)
Lemma gradient_in_three n k i :
  gradient_sq A n k i <= 3 * optimum_moment draw bar_n n i + 3 * change_from_optimum draw bar_n n k i
    + 3 * stale_change draw n k i.
Proof.
  rewrite <- (moment_at_step n k i). unfold gradient_sq, change_from_optimum, stale_change.
  set (g := sample A n k i). set (v := at_virtual draw n k i). set (o := grad (draw n k i) (bar_n n)).
  pose proof (dot_self V (o - (v - o))%vec) as H1. pose proof (dot_self V (o - (g - v))%vec) as H2.
  pose proof (dot_self V ((v - o) - (g - v))%vec) as H3. revert H1 H2 H3. expand_dots.
  rewrite ?(dot_comm V v o), ?(dot_comm V g o), ?(dot_comm V g v), ?(dot_comm V o v), ?(dot_comm V o g), ?(dot_comm V v g). lra.
Qed.

Lemma stale_change_below n k i : (i < number C)%nat ->
  stale_change draw n k i <= L_xi ^ 2 * client_distance_sq n k i.
Proof.
  intros Hi. unfold stale_change, at_virtual. rewrite (draw_sampled _ _ _ unbiased n k i Hi).
  pose proof (lipschitz_gradient (draw n k i) L_xi (local A n k i) (virtual A n k) positive
    (draw_smooth _ _ smooth n k i Hi)). unfold client_distance_sq. lra.
Qed.

Lemma stale_changes_below n k : total (fun i => stale_change draw n k i * share_of n i)
  <= L_xi ^ 2 * total (fun i => client_distance_sq n k i * share_of n i).
Proof.
  rewrite <- sum_scale. apply sum_le. intros i Hi. pose proof (share_nonneg_of n i Hi).
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [assumption |]. apply stale_change_below. assumption.
Qed.

Lemma mixed_change_below n k :
  mixed_change draw n k <= L_xi ^ 2 * total (fun i => client_distance_sq n k i * share_of n i).
Proof.
  apply Rle_trans with (1 := mean_below n (fun i => (sample A n k i - at_virtual draw n k i)%vec)).
  apply Rle_trans with (2 := stale_changes_below n k). right. apply sum_ext. intros. unfold stale_change. ring.
Qed.

Context (n : nat) (minimiser_bar_n : minimiser A (round_objective A n) (bar_n n)).

Lemma gap_of_draw k i : (i < number C)%nat ->
  gap (draw n k i) (virtual A n k) (bar_n n) = gap (L_i i) (virtual A n k) (bar_n n).
Proof.
  intros Hi. pose proof (past_virtual _ _ _ unbiased n k) as P.
  pose proof (past_fixed _ _ _ unbiased n k _ (fixed_bar_n n)) as Q. unfold gap.
  rewrite !(draw_value _ _ _ unbiased n k i _ Hi) by assumption.
  rewrite (draw_slope _ _ _ unbiased n k i _ _ Hi Q (past_minus n k _ _ P Q)). reflexivity.
Qed.

Lemma change_below k i : (i < number C)%nat ->
  change_from_optimum draw bar_n n k i <= 2 * L_xi * gap (L_i i) (virtual A n k) (bar_n n).
Proof.
  intros Hi. rewrite <- (gap_of_draw k i Hi). unfold change_from_optimum, at_virtual.
  pose proof (cocoercive (draw n k i) L_xi (virtual A n k) (bar_n n) positive (draw_convex _ _ smooth n k i Hi)
    (draw_smooth _ _ smooth n k i Hi)) as H.
  apply Rmult_le_reg_r with (/ (2 * L_xi)); [apply Rinv_0_lt_compat; lra |].
  unfold Rdiv in H. replace (2 * L_xi * gap (draw n k i) (virtual A n k) (bar_n n) * / (2 * L_xi))
    with (gap (draw n k i) (virtual A n k) (bar_n n)) by (field; lra). lra.
Qed.

Lemma changes_below k : total (fun i => change_from_optimum draw bar_n n k i * share_of n i)
  <= 2 * L_xi * (round_gap_at bar_n n k / weight_sum A n).
Proof.
  rewrite <- (gaps_of_draws bar_n n minimiser_bar_n), <- sum_scale. apply sum_le. intros i Hi. pose proof (share_nonneg_of n i Hi).
  pose proof (change_below k i Hi).
  replace (2 * L_xi * (share_of n i * gap (L_i i) (virtual A n k) (bar_n n)))
    with (2 * L_xi * gap (L_i i) (virtual A n k) (bar_n n) * share_of n i) by ring.
  apply Rmult_le_compat_r; assumption.
Qed.

(** (68). *)
Lemma gradients_in_three k : total (fun i => gradient_sq A n k i * share_of n i)
  <= 3 * L_xi ^ 2 * total (fun i => client_distance_sq n k i * share_of n i)
    + 6 * L_xi * (round_gap_at bar_n n k / weight_sum A n) + 3 * optimum_noise draw bar_n n.
Proof.
  pose proof (stale_changes_below n k). pose proof (changes_below k).
  apply Rle_trans with (3 * optimum_noise draw bar_n n + 3 * total (fun i => change_from_optimum draw bar_n n k i * share_of n i)
    + 3 * total (fun i => stale_change draw n k i * share_of n i)); [| lra].
  unfold optimum_noise. rewrite <- !sum_scale, <- !sum_plus. apply sum_le. intros i Hi.
  pose proof (gradient_in_three n k i). pose proof (share_nonneg_of n i Hi). nra.
Qed.

(** The proof of Lemma 5. *)
Lemma mixed_moments_below k :
  total (fun i => share_of n i ^ 2 * (change_from_optimum draw bar_n n k i + optimum_moment draw bar_n n i))
  <= 2 * L_xi * (round_gap_at bar_n n k / weight_sum A n) * largest_share A n + mixed_optimum_noise draw bar_n n.
Proof.
  pose proof (changes_below k) as bound. apply Rmult_le_compat_r with (r := largest_share A n) in bound.
  2: { apply Rle_trans with (share_of n O); [apply share_nonneg_of, several |].
       apply (Run.largest_at_least _ (share_of n) O), several. }
  apply Rle_trans with (total (fun i => change_from_optimum draw bar_n n k i * share_of n i) * largest_share A n
    + mixed_optimum_noise draw bar_n n); [| lra].
  unfold mixed_optimum_noise. rewrite (Rmult_comm (total _)), <- sum_scale, <- sum_plus. apply sum_le. intros i Hi.
  pose proof (share_nonneg_of n i Hi). pose proof (Run.largest_at_least _ (share_of n) i Hi) as most.
  fold (largest_share A n) in most. assert (0 <= change_from_optimum draw bar_n n k i) by apply dot_self.
  assert (share_of n i * (change_from_optimum draw bar_n n k i * share_of n i)
    <= largest_share A n * (change_from_optimum draw bar_n n k i * share_of n i)); [| lra].
  apply Rmult_le_compat_r; [apply Rmult_le_pos; assumption | assumption].
Qed.

Lemma mixed_noise_by_optimum k : mixed_noise draw n k
  <= 2 * mixed_optimum_noise draw bar_n n + 4 * L_xi * (round_gap_at bar_n n k / weight_sum A n).
Proof.
  pose proof (changes_below k). apply Rle_trans with (1 := mixed_noise_at_most n k).
  apply Rle_trans with (2 * mixed_optimum_noise draw bar_n n
    + 2 * total (fun i => change_from_optimum draw bar_n n k i * share_of n i)); [| lra].
  unfold mixed_optimum_noise. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros i Hi.
  pose proof (share_nonneg_of n i Hi). pose proof (share_at_most_one n i Hi).
  assert (0 <= change_from_optimum draw bar_n n k i) by apply dot_self.
  assert (virtual_second_moment draw n k i
    <= 2 * optimum_moment draw bar_n n i + 2 * change_from_optimum draw bar_n n k i) as two.
  { rewrite <- (moment_at_step n k i). unfold virtual_second_moment, change_from_optimum.
    set (v := at_virtual draw n k i). set (o := grad (draw n k i) (bar_n n)).
    pose proof (dot_self V (o - (v - o))%vec) as H3. revert H3. expand_dots. rewrite ?(dot_comm V v o). lra. }
  assert (share_of n i ^ 2 * virtual_second_moment draw n k i
    <= share_of n i ^ 2 * (2 * optimum_moment draw bar_n n i + 2 * change_from_optimum draw bar_n n k i))
    by (apply Rmult_le_compat_l; [apply pow2_ge_0 | assumption]).
  assert (share_of n i ^ 2 * change_from_optimum draw bar_n n k i
    <= change_from_optimum draw bar_n n k i * share_of n i).
  { replace (share_of n i ^ 2 * change_from_optimum draw bar_n n k i)
      with (change_from_optimum draw bar_n n k i * share_of n i * share_of n i) by ring.
    rewrite <- (Rmult_1_r (change_from_optimum draw bar_n n k i * share_of n i)) at 2.
    apply Rmult_le_compat_l; [apply Rmult_le_pos |]; assumption. }
  lra.
Qed.

Lemma mean_in_three k : square_mean_at A n k
  <= 3 * mixed_change draw n k + 3 * mixed_noise draw n k + 3 * ‖grad (shared_objective A n) (virtual A n k)‖².
Proof.
  unfold square_mean_at, mixed_change, mixed_noise. cbn [grad shared_objective sum_objective].
  set (u := vsum _ (fun i => share_of n i • (sample A n k i - at_virtual draw n k i))%vec).
  set (m := vsum _ (fun i => share_of n i • (at_virtual draw n k i - _))%vec).
  set (s := vsum _ (fun i => weight_share A n i • grad (L_i i) (virtual A n k))%vec).
  assert (E : forall w, ⟨vsum (number C) (fun i => share_of n i • sample A n k i), w⟩ = ⟨u + (m + s), w⟩).
  { intros w. unfold u, m, s. rewrite !dot_plus, !dot_vsum, <- !sum_plus. apply sum_ext. intros.
    rewrite !dot_scale, !dot_minus. ring. }
  rewrite E, dot_comm, E.
  pose proof (dot_self V (u - m)%vec) as H1. pose proof (dot_self V (u - s)%vec) as H2.
  pose proof (dot_self V (m - s)%vec) as H3. revert H1 H2 H3. expand_dots.
  rewrite ?(dot_comm V m u), ?(dot_comm V s u), ?(dot_comm V s m). lra.
Qed.

(** Fresh noise is uncorrelated with the gradients at the virtual iterate. *)
Lemma noise_apart_from_slope k : ⟨vsum (number C) (fun i => share_of n i
    • (at_virtual draw n k i - grad (L_i i) (virtual A n k))), grad (shared_objective A n) (virtual A n k)⟩ = 0.
Proof.
  pose proof (past_virtual _ _ _ unbiased n k) as P. cbn [grad shared_objective sum_objective].
  rewrite dot_vsum, (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring |].
  intros i Hi. rewrite dot_scale, dot_comm, dot_vsum, (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring |].
  intros j _. rewrite dot_scale, dot_comm, dot_minus. unfold at_virtual. rewrite (draw_slope _ _ _ unbiased n k i _ _ Hi P (past_gradient _ _ _ unbiased n k j _ P)). ring.
Qed.

Lemma mean_in_two k : square_mean_at A n k
  <= 3 / 2 * mixed_change draw n k + 3 * mixed_noise draw n k + 3 * ‖grad (shared_objective A n) (virtual A n k)‖².
Proof.
  pose proof (noise_apart_from_slope k) as apart. revert apart.
  unfold square_mean_at, mixed_change, mixed_noise. cbn [grad shared_objective sum_objective].
  set (u := vsum _ (fun i => share_of n i • (sample A n k i - at_virtual draw n k i))%vec).
  set (m := vsum _ (fun i => share_of n i • (at_virtual draw n k i - _))%vec).
  set (s := vsum _ (fun i => weight_share A n i • grad (L_i i) (virtual A n k))%vec). intros apart.
  assert (E : forall w, ⟨vsum (number C) (fun i => share_of n i • sample A n k i), w⟩ = ⟨u + (m + s), w⟩).
  { intros w. unfold u, m, s. rewrite !dot_plus, !dot_vsum, <- !sum_plus. apply sum_ext. intros.
    rewrite !dot_scale, !dot_minus. ring. }
  rewrite E, dot_comm, E. pose proof (dot_self V (u - ((m + s) + (m + s)))%vec) as H. revert H. expand_dots.
  rewrite ?(dot_comm V m u), ?(dot_comm V s u), ?(dot_comm V s m), ?apart. lra.
Qed.

Lemma square_mean_by c : 0 <= c -> (forall k, square_mean_at A n k
    <= c * mixed_change draw n k + 3 * mixed_noise draw n k + 3 * ‖grad (shared_objective A n) (virtual A n k)‖²) ->
  square_mean_gradient A n <= c * L_xi ^ 2 * client_spread A n + 18 * L_xi * (round_gap A bar_n n / weight_sum A n)
    + 6 * mixed_optimum_noise draw bar_n n.
Proof.
  intros Hc parts. pose proof (K_at_least_one A) as large. set (s2 := mixed_optimum_noise draw bar_n n).
  assert (each : forall k, (k < steps A)%nat -> square_mean_at A n k
    <= c * L_xi ^ 2 * total (fun i => share_of n i * ‖local A n k i - virtual A n k‖²)
      + 18 * L_xi * / weight_sum A n * round_gap_at bar_n n k + 6 * s2).
  { intros k _. pose proof (parts k). pose proof (mixed_change_below n k) as change.
    pose proof (mixed_noise_by_optimum k). pose proof (slopes_below L_xi positive (means_convex _ _ smooth) (means_smooth _ _ smooth) bar_n n minimiser_bar_n k). unfold Rdiv in *. unfold s2.
    rewrite (sum_ext _ (fun i => client_distance_sq n k i * share_of n i)
      (fun i => share_of n i * ‖local A n k i - virtual A n k‖²)) in change
      by (intros; unfold client_distance_sq; ring).
    apply Rmult_le_compat_l with (r := c) in change; [| assumption]. lra. }
  pose proof (sum_le _ _ _ each) as whole. rewrite !sum_plus, !sum_scale, sum_const in whole. fold (K_of A) in whole.
  unfold square_mean_gradient, client_spread, round_gap, mean_over_steps.
  apply Rmult_le_compat_l with (r := 1 / K_of A) in whole; [| apply Rlt_le, Rdiv_lt_0_compat; lra].
  apply Rle_trans with (1 := whole). right. unfold round_gap_at, Rdiv.
  set (w := / weight_sum A n). field. lra.
Qed.

Lemma square_mean_below : square_mean_gradient A n
  <= 3 * L_xi ^ 2 * client_spread A n + 18 * L_xi * (round_gap A bar_n n / weight_sum A n)
    + 6 * mixed_optimum_noise draw bar_n n.
Proof. apply square_mean_by; [lra | exact mean_in_three]. Qed.

Lemma square_mean_in_two : square_mean_gradient A n
  <= 3 / 2 * L_xi ^ 2 * client_spread A n + 18 * L_xi * (round_gap A bar_n n / weight_sum A n)
    + 6 * mixed_optimum_noise draw bar_n n.
Proof. apply square_mean_by; [lra | exact mean_in_two]. Qed.
End Smooth.
End Unbiased.

(** The random weights and what does not depend on them. *)
Section Weighed.
Context (alpha : R) (d : nat -> nat -> R) (weights : covariance A alpha d).
Context (fixed : V -> Prop) (known : nat -> V -> Prop) (free : independent_weights fixed known).

(** sum_i q_i(n) g_i, and what the server applies besides. *)
Definition meant (n k : nat) : V := vsum (number C) (fun i => q_i n i • sample A n k i)%vec.
Definition beyond (n k : nat) : V := (applied A n k - meant n k)%vec.

Lemma dot_meant n k w : ⟨meant n k, w⟩ = total (fun i => q_i n i * ⟨sample A n k i, w⟩).
Proof. unfold meant. rewrite dot_vsum. apply sum_ext. intros. apply dot_scale. Qed.

Lemma beyond_apart n k v : known n v -> ⟨beyond n k, v⟩ = 0.
Proof.
  intros Hv. unfold beyond. rewrite dot_minus, dot_meant. unfold applied. rewrite dot_vsum. apply Rminus_diag_eq.
  apply sum_ext. intros i Hi. apply (weight_apart _ _ free); [| apply (known_sample _ _ free) |]; assumption.
Qed.

Lemma beyond_meant n k l : ⟨beyond n k, meant n l⟩ = 0.
Proof.
  rewrite dot_comm, dot_meant, (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros i _. rewrite dot_comm, beyond_apart; [ring | apply (known_sample _ _ free)].
Qed.

Lemma applied_splits n k : ‖applied A n k‖² = ‖beyond n k‖² + ‖meant n k‖².
Proof.
  assert (E : forall w, ⟨applied A n k, w⟩ = ⟨beyond n k + meant n k, w⟩).
  { intros w. unfold beyond. rewrite dot_plus, dot_minus. ring. }
  rewrite E, dot_comm, E. expand_dots.
  pose proof (beyond_meant n k k) as H. rewrite ?(dot_comm V (meant n k) (beyond n k)), H. ring.
Qed.

Lemma meant_square n k : ‖meant n k‖² = weight_sum A n ^ 2 * square_mean_at A n k.
Proof.
  rewrite square_of_mean, dot_meant. apply sum_ext. intros i _. rewrite dot_comm, dot_meant, <- sum_scale.
  apply sum_ext. intros j _. rewrite (dot_comm V (sample A n k j)). ring.
Qed.

Lemma square_mean_nonneg n k : 0 <= square_mean_at A n k.
Proof. apply dot_self. Qed.

Lemma beyond_below n k : (n < updates A)%nat ->
  ‖beyond n k‖² <= weight_excess A alpha d * weight_sum A n * step_square A n k.
Proof.
  intros Hn. pose proof (selected_at_most A alpha d weights n k Hn) as H. unfold selected_sq in H.
  rewrite applied_splits, meant_square in H. pose proof (square_mean_nonneg n k).
  pose proof (pairing_at_most_one _ _ _ weights). pose proof (pow2_ge_0 (weight_sum A n)).
  assert (0 <= weight_sum A n ^ 2 * square_mean_at A n k) by (apply Rmult_le_pos; assumption). nra.
Qed.

(** How far the weights have moved the virtual iterate: each step is apart from what the others are meant to be. *)
Lemma beyond_moved n k bar : fixed bar -> ⟨beyond n k, virtual A n k - bar⟩
  = - (server_size A * local_size A) * sum k (fun l => ⟨beyond n k, beyond n l⟩).
Proof.
  intros Hbar. rewrite dot_comm, dot_minus, (dot_comm V bar).
  rewrite (beyond_apart n k bar) by (apply (known_fixed _ _ free); assumption).
  assert (H : forall m, ⟨virtual A n m, beyond n k⟩
    = - (server_size A * local_size A) * sum m (fun l => ⟨beyond n k, beyond n l⟩)).
  { induction m as [| m IH]; cbn [virtual sum].
    - rewrite dot_comm, beyond_apart by apply (known_model _ _ free). ring.
    - rewrite dot_minus, dot_scale, IH. fold (applied A n m).
      assert (E : ⟨applied A n m, beyond n k⟩ = ⟨beyond n k, beyond n m⟩).
      { unfold beyond at 3. rewrite (dot_comm V (beyond n k)), dot_minus, (dot_comm V (meant n m)), beyond_meant. ring. }
      rewrite E. ring. }
  rewrite H. ring.
Qed.

Lemma twice_pairs (f : nat -> V) K :
  2 * sum K (fun k => sum k (fun l => ⟨f k, f l⟩)) = ‖vsum K f‖² - sum K (fun k => ‖f k‖²).
Proof.
  induction K as [| K IH]; cbn [sum vsum]; [rewrite dot_zero; ring |].
  rewrite Rmult_plus_distr_l, IH, dot_plus, (dot_comm V (vsum K f) (_ + _)%vec), (dot_comm V (f K) (_ + _)%vec), !dot_plus.
  rewrite (dot_comm V (vsum K f) (f K)).
  replace (sum K (fun l => ⟨f K, f l⟩)) with ⟨f K, vsum K f⟩; [ring |].
  rewrite dot_comm, dot_vsum. apply sum_ext. intros. apply dot_comm.
Qed.

(** Lemma 2. *)
Section Progress.
Context (draw : nat -> nat -> nat -> objective V) (past : nat -> nat -> V -> Prop).
Context (unbiased : unbiased_draws fixed past draw) (bar : V) (fixed_bar : fixed bar).

Lemma alignment_of_samples n : alignment A bar n = mean_over_steps A (fun k => ⟨meant n k, virtual A n k - bar⟩).
Proof.
  unfold alignment, mean_over_steps. f_equal. apply sum_ext. intros k _. rewrite dot_meant. apply sum_ext.
  intros i Hi. f_equal. rewrite (draw_sampled _ _ _ unbiased n k i Hi). symmetry.
  apply (draw_slope _ _ _ unbiased); [assumption | apply (past_local _ _ _ unbiased) |].
  apply (past_minus draw fixed past unbiased);
    [apply (past_virtual _ _ _ unbiased) | apply (past_fixed _ _ _ unbiased); assumption].
Qed.

Lemma alignments_apart n : selected_alignment bar n - alignment A bar n
  = - (server_size A * local_size A) / (2 * K_of A)
    * (‖vsum (steps A) (beyond n)‖² - sum (steps A) (fun k => ‖beyond n k‖²)).
Proof.
  rewrite alignment_of_samples, <- twice_pairs. unfold selected_alignment, mean_over_steps.
  rewrite <- Rmult_minus_distr_l, <- sum_minus.
  rewrite (sum_ext _ _ (fun k => - (server_size A * local_size A) * sum k (fun l => ⟨beyond n k, beyond n l⟩))).
  - rewrite sum_scale. pose proof (K_at_least_one A). field. lra.
  - intros k _. rewrite <- (beyond_moved n k bar fixed_bar). unfold beyond at 1. rewrite dot_minus. reflexivity.
Qed.

Lemma alignments_below n : (n < updates A)%nat -> - (2 * selected_alignment bar n)
  <= - (2 * alignment A bar n)
    + (K_of A - 1) * weight_excess A alpha d * server_size A * local_size A * weight_sum A n * mean_square_gradient A n.
Proof.
  intros Hn. pose proof (alignments_apart n) as apart. pose proof (square_of_steps A (steps A) (beyond n)) as most.
  pose proof (K_at_least_one A) as large. fold (K_of A) in most.
  assert (each : sum (steps A) (fun k => ‖beyond n k‖²)
    <= weight_excess A alpha d * weight_sum A n * (K_of A * mean_square_gradient A n)).
  { unfold mean_square_gradient, mean_over_steps.
    replace (K_of A * (1 / K_of A * sum (steps A) (step_square A n))) with (sum (steps A) (step_square A n)) by (field; lra).
    rewrite <- sum_scale. apply sum_le. intros k _. apply beyond_below. assumption. }
  set (b := sum (steps A) (fun k => ‖beyond n k‖²)) in *. set (w := ‖vsum (steps A) (beyond n)‖²) in *.
  pose proof (local_size_positive A) as local_positive. pose proof (server_size_positive A) as server_positive.
  assert (size : 0 < server_size A * local_size A) by (apply Rmult_lt_0_compat; assumption).
  set (e := server_size A * local_size A) in *.
  assert (apart' : - (2 * selected_alignment bar n) = - (2 * alignment A bar n) + e / K_of A * (w - b))
    by (replace (selected_alignment bar n) with (alignment A bar n + - e / (2 * K_of A) * (w - b)) by lra; field; lra).
  rewrite apart'. apply Rplus_le_compat_l.
  apply Rle_trans with (e / K_of A * ((K_of A - 1) * (weight_excess A alpha d * weight_sum A n
    * (K_of A * mean_square_gradient A n)))).
  - apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra |].
    apply Rle_trans with ((K_of A - 1) * b); [lra |]. apply Rmult_le_compat_l; lra.
  - right. unfold e. field. lra.
Qed.

Lemma progress_in_parts n : progress A bar n = (server_size A * local_size A) ^ 2 * mean_over_steps A (selected_sq A n)
  - 2 * (server_size A * local_size A) * selected_alignment bar n.
Proof.
  unfold progress, selected_alignment, mean_over_steps.
  rewrite (sum_ext _ _ (fun k => (server_size A * local_size A) ^ 2 * selected_sq A n k
    - 2 * (server_size A * local_size A) * ⟨applied A n k, virtual A n k - bar⟩)).
  - rewrite sum_minus, !sum_scale. ring.
  - intros k _. unfold distance_sq, selected_sq. cbn [virtual]. fold (applied A n k).
    set (a := applied A n k). set (u := virtual A n k). expand_dots.
    rewrite ?(dot_comm V a u), ?(dot_comm V bar u), ?(dot_comm V bar a). ring.
Qed.

Lemma progress_below n : (n < updates A)%nat -> progress A bar n <= (server_size A * local_size A) ^ 2
    * (alpha * weight_sum A n ^ 2 * square_mean_gradient A n + weight_excess A alpha d * weight_sum A n * mean_square_gradient A n)
  - 2 * (server_size A * local_size A) * selected_alignment bar n.
Proof.
  intros Hn. rewrite progress_in_parts. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [apply pow2_ge_0 |].
  pose proof (K_at_least_one A) as large. unfold square_mean_gradient, mean_square_gradient, mean_over_steps.
  replace (alpha * weight_sum A n ^ 2 * (1 / K_of A * sum (steps A) (square_mean_at A n))
    + weight_excess A alpha d * weight_sum A n * (1 / K_of A * sum (steps A) (step_square A n)))
    with (1 / K_of A * sum (steps A) (fun k => alpha * (weight_sum A n ^ 2 * square_mean_at A n k)
      + weight_excess A alpha d * weight_sum A n * step_square A n k)).
  - apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra |]. apply sum_le. intros k _.
    apply (selected_at_most A alpha d weights n k Hn).
  - rewrite sum_plus, !sum_scale. ring.
Qed.

Lemma progress_by_alignment n : (n < updates A)%nat -> progress A bar n <= (server_size A * local_size A) ^ 2
    * (alpha * weight_sum A n ^ 2 * square_mean_gradient A n
      + K_of A * weight_excess A alpha d * weight_sum A n * mean_square_gradient A n)
  - 2 * (server_size A * local_size A) * alignment A bar n.
Proof.
  intros Hn. pose proof (progress_below n Hn) as whole. pose proof (alignments_below n Hn) as parts.
  assert (size : 0 < server_size A * local_size A)
    by (apply Rmult_lt_0_compat; [apply server_size_positive | apply local_size_positive]).
  apply Rmult_le_compat_l with (r := server_size A * local_size A) in parts; lra.
Qed.

(** Of weights that are given the server applies what it is meant to. *)
Lemma progress_of_given n : given_weights A d -> (n < updates A)%nat -> progress A bar n
  <= (server_size A * local_size A) ^ 2 * (alpha * weight_sum A n ^ 2 * square_mean_gradient A n
      + weight_excess A alpha d * weight_sum A n * mean_square_gradient A n)
  - 2 * (server_size A * local_size A) * alignment A bar n.
Proof.
  intros given Hn. pose proof (progress_below n Hn) as whole.
  assert (E : selected_alignment bar n = alignment A bar n); [| rewrite <- E; assumption].
  rewrite alignment_of_samples. unfold selected_alignment, mean_over_steps. f_equal. apply sum_ext. intros k _.
  rewrite dot_meant. unfold applied. rewrite dot_vsum. apply sum_ext. intros i _.
  rewrite (proj1 (given n i)), dot_scale. reflexivity.
Qed.
End Progress.

(** (64): from the received model and from the server's one, step by step. *)
Lemma apart_by_steps n k i w : ⟨local A n k i - virtual A n k, w⟩ = ⟨(model A (received_at A n i) - model A n)
  - local_size A • vsum k (fun l => sample A n l i - server_size A • applied A n l), w⟩.
Proof.
  induction k as [| k IH]; cbn [local virtual vsum].
  - rewrite !dot_minus, dot_scale, dot_zero. ring.
  - cbv zeta. fold (sample A n k i). fold (applied A n k). revert IH. rewrite !dot_minus, !dot_scale, !dot_plus, !dot_minus, !dot_scale.
    lra.
Qed.

Lemma client_distance_below n k i : client_distance_sq n k i
  <= 2 * received_distance_sq A n i + 2 * INR k * past_applied_spread n k i * local_size A ^ 2.
Proof.
  unfold client_distance_sq, received_distance_sq, past_applied_spread.
  rewrite apart_by_steps, dot_comm, apart_by_steps.
  pose proof (square_of_steps A k (fun l => sample A n l i - server_size A • applied A n l)%vec) as most.
  set (u := (model A (received_at A n i) - model A n)%vec).
  set (v := vsum k _) in *. pose proof (pow2_ge_0 (local_size A)).
  apply Rle_trans with (2 * ‖u‖² + 2 * local_size A ^ 2 * ‖v‖²).
  - pose proof (dot_self V (u + local_size A • v)%vec) as H1. revert H1. expand_dots. rewrite ?(dot_comm V v u). lra.
  - apply Rplus_le_compat_l. replace (2 * INR k * sum k (fun l => ‖sample A n l i - server_size A • applied A n l‖²) * local_size A ^ 2)
      with (2 * local_size A ^ 2 * (INR k * sum k (fun l => ‖sample A n l i - server_size A • applied A n l‖²))) by ring.
    apply Rmult_le_compat_l; [lra | assumption].
Qed.

Lemma factor_at_least t alpha' r : 0 <= t -> t <= r -> 0 <= alpha' -> t * (alpha' * t - 2) <= Rmax 0 (r * (alpha' * r - 2)).
Proof.
  intros Ht Hr Ha. destruct (Rle_dec (alpha' * t) 2) as [low | high].
  - apply Rle_trans with 0; [nra | apply Rmax_l].
  - apply Rle_trans with (2 := Rmax_r _ _). assert (alpha' * t <= alpha' * r) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Lemma weight_sum_below n : (n < updates A)%nat -> weight_sum A n <= largest_weight_sum A.
Proof.
  intros Hn. apply Rle_trans with (1 := Run.largest_at_least _ (weight_sum A) n Hn). apply Rmax_r.
Qed.

Lemma excess_nonneg : 0 <= weight_excess A alpha d.
Proof. apply Schedule.largest_nonneg. Qed.

(** (66), and what kappa is for. *)
Lemma applied_spread_below n l : (n < updates A)%nat ->
  total (fun i => share_of n i * ‖sample A n l i - server_size A • applied A n l‖²)
  <= spread_factor alpha d * step_square A n l.
Proof.
  intros Hn. pose proof (selected_at_most A alpha d weights n l Hn) as most. unfold selected_sq in most.
  pose proof (step_square_nonneg A n l) as positive. pose proof (server_size_positive A) as server_positive.
  pose proof (mean_below n (sample A n l)) as jensen.
  assert (J : square_mean_at A n l <= step_square A n l).
  { apply Rle_trans with (1 := jensen). right. apply sum_ext. intros. ring. }
  assert (E : total (fun i => share_of n i * ‖sample A n l i - server_size A • applied A n l‖²)
    <= step_square A n l - 2 * server_size A * (weight_sum A n * square_mean_at A n l)
      + server_size A ^ 2 * ‖applied A n l‖²).
  { apply Rle_trans with (step_square A n l - 2 * server_size A * total (fun i => share_of n i * ⟨sample A n l i, applied A n l⟩)
      + server_size A ^ 2 * ‖applied A n l‖² * total (share_of n)).
    - right. unfold step_square. rewrite <- !sum_scale, <- sum_minus, <- sum_plus. apply sum_ext. intros i _.
      set (g := sample A n l i). set (a := applied A n l). expand_dots. rewrite (dot_comm V a g). ring.
    - assert (P : total (fun i => share_of n i * ⟨sample A n l i, applied A n l⟩) = weight_sum A n * square_mean_at A n l).
      { rewrite (sum_ext _ _ (fun i => share_of n i * ⟨meant n l, sample A n l i⟩)).
        - rewrite sum_of_shares. rewrite (sum_ext _ _ (fun i => q_i n i * ⟨sample A n l i, meant n l⟩))
            by (intros; rewrite (dot_comm V (meant n l)); reflexivity).
          rewrite <- dot_meant, meant_square.
          destruct (Req_dec (weight_sum A n) 0) as [zero |]; [rewrite zero; unfold Rdiv; ring | field; assumption].
        - intros i Hi. f_equal. pose proof (beyond_apart n l (sample A n l i) (known_sample _ _ free n l i)) as H.
          unfold beyond in H. rewrite dot_minus in H. rewrite dot_comm. lra. }
      rewrite P. pose proof (shares_at_most_one n). assert (0 <= server_size A ^ 2 * ‖applied A n l‖²)
        by (apply Rmult_le_pos; [apply pow2_ge_0 | apply dot_self]). nra. }
  apply Rle_trans with (1 := E). pose proof (factor_at_least (server_size A * weight_sum A n) alpha
    (server_size A * largest_weight_sum A)) as F.
  pose proof (total_nonneg n) as total_positive. pose proof (weight_sum_below n Hn) as below.
  specialize (F ltac:(apply Rmult_le_pos; lra) ltac:(apply Rmult_le_compat_l; lra) (pairing_nonneg _ _ _ weights)).
  unfold spread_factor. set (kappa := Rmax _ _) in *. pose proof excess_nonneg as excess.
  assert (0 <= kappa) by (apply Rmax_l). pose proof (square_mean_nonneg n l) as mean_positive.
  set (m := square_mean_at A n l) in *. set (s := step_square A n l) in *. set (x := server_size A) in *.
  set (q := weight_sum A n) in *. set (rho := largest_weight_sum A) in *. set (beta := weight_excess A alpha d) in *.
  assert (x ^ 2 * ‖applied A n l‖² <= x ^ 2 * (alpha * (q ^ 2 * m) + beta * q * s))
    by (apply Rmult_le_compat_l; [apply pow2_ge_0 | assumption]).
  assert (x * q * (alpha * (x * q) - 2) * m <= kappa * m) by (apply Rmult_le_compat_r; assumption).
  assert (kappa * m <= kappa * s) by (apply Rmult_le_compat_l; assumption).
  assert (x ^ 2 * beta * s * q <= x ^ 2 * beta * s * rho).
  { apply Rmult_le_compat_l; [| assumption]. repeat apply Rmult_le_pos; lra. }
  lra.
Qed.

Lemma distances_below n k : total (fun i => client_distance_sq n k i * share_of n i)
  <= total (fun i => share_of n i * (2 * received_distance_sq A n i + 2 * INR k * past_applied_spread n k i * local_size A ^ 2)).
Proof.
  apply sum_le. intros i Hi. rewrite Rmult_comm. apply Rmult_le_compat_l; [apply share_nonneg_of; assumption |].
  apply client_distance_below.
Qed.

Lemma spread_below n k : (n < updates A)%nat ->
  total (fun i => share_of n i * (2 * received_distance_sq A n i + 2 * INR k * past_applied_spread n k i * local_size A ^ 2))
  <= 2 * total (fun i => received_distance_sq A n i * share_of n i)
    + 2 * local_size A ^ 2 * INR k * (spread_factor alpha d * past_mean_square_gradient n k).
Proof.
  intros Hn. apply Rle_trans with (2 * total (fun i => received_distance_sq A n i * share_of n i)
    + 2 * local_size A ^ 2 * INR k * total (fun i => share_of n i * past_applied_spread n k i)).
  - right. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros. ring.
  - apply Rplus_le_compat_l, Rmult_le_compat_l.
    + pose proof (local_size_positive A). pose proof (pos_INR k). repeat apply Rmult_le_pos; lra.
    + unfold past_applied_spread, past_mean_square_gradient. rewrite <- sum_scale.
      rewrite (sum_ext _ _ (fun i => sum k (fun l => share_of n i * ‖sample A n l i - server_size A • applied A n l‖²)))
        by (intros; rewrite sum_scale; reflexivity).
      rewrite sum_swap. apply sum_le. intros l _. apply applied_spread_below. assumption.
Qed.
End Weighed.
End Definitions.
