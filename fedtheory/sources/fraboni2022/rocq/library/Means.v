(** Means over the clients, local steps and updates of what holds at each of them.

    Fraboni et al. (2022), the proofs of Lemmas 3 to 6 and of Theorem 1. *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives Normal Stale Weights Samples.
Require Run Schedule.
Open Scope R_scope.

Section Definitions.
Context (A : server).
Notation V := (space_of A).
Notation C := (clients_of A).
Notation total := (sum (number C)).

Lemma each_step f : (forall k, (k < steps A)%nat -> 0 <= f k) -> 0 <= mean_over_steps A f.
Proof.
  intros H. pose proof (K_at_least_one A). unfold mean_over_steps.
  apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra | apply sum_nonneg; assumption].
Qed.

Lemma each_update f : (forall n, (n < updates A)%nat -> 0 <= f n) -> 0 <= mean_over_updates A f.
Proof.
  intros H. pose proof (N_at_least_one A). unfold mean_over_updates.
  apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra | apply sum_nonneg; assumption].
Qed.

Lemma each_client n f : (forall i, (i < number C)%nat -> 0 <= f i) -> 0 <= total (fun i => weight_share A n i * f i).
Proof. intros H. apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply share_nonneg_of |]; auto. Qed.

(** From the means of some numbers to that of a sum of their multiples. *)
Lemma steps_and c f X g G : c * mean_over_steps A f <= c * X -> mean_over_steps A g <= G ->
  mean_over_steps A (fun k => c * f k + g k) <= c * X + G.
Proof. unfold mean_over_steps. intros. rewrite sum_plus, sum_scale. lra. Qed.

Lemma updates_and c f X g G : c * mean_over_updates A f <= c * X -> mean_over_updates A g <= G ->
  mean_over_updates A (fun n => c * f n + g n) <= c * X + G.
Proof. unfold mean_over_updates. intros. rewrite sum_plus, sum_scale. lra. Qed.

Lemma clients_and n c f X g G : c * total (fun i => weight_share A n i * f i) <= c * X ->
  total (fun i => weight_share A n i * g i) <= G -> total (fun i => weight_share A n i * (c * f i + g i)) <= c * X + G.
Proof.
  intros. rewrite (sum_ext _ _ (fun i => c * (weight_share A n i * f i) + weight_share A n i * g i)) by (intros; ring).
  rewrite sum_plus, sum_scale. lra.
Qed.

Lemma steps_same r : mean_over_steps A (fun _ => r) = r.
Proof. unfold mean_over_steps. rewrite sum_const. fold (K_of A). pose proof (K_at_least_one A). field. lra. Qed.

Lemma updates_same r : mean_over_updates A (fun _ => r) = r.
Proof. unfold mean_over_updates. rewrite sum_const. fold (N_of A). pose proof (N_at_least_one A). field. lra. Qed.

Lemma steps_end r : mean_over_steps A (fun _ => r) <= r.
Proof. rewrite steps_same. lra. Qed.

Lemma updates_end r : mean_over_updates A (fun _ => r) <= r.
Proof. rewrite updates_same. lra. Qed.

Lemma clients_end n r : 0 < weight_sum A n -> total (fun i => weight_share A n i * r) <= r.
Proof.
  intros some. unfold weight_share. rewrite (sum_ext _ _ (fun i => r / weight_sum A n * expected_weight A n i))
    by (intros; field; lra).
  rewrite sum_scale. fold (weight_sum A n). right. field. lra.
Qed.

(** A sum over the last tau updates is, in the mean, at most tau times the mean. *)
Lemma shifted (f : nat -> R) s N : sum N (fun n => if (s <? n)%nat then f (n - 1 - s)%nat else 0) = sum (N - 1 - s) f.
Proof.
  induction N as [| N IH]; [reflexivity |]. cbn [sum]. rewrite IH. replace (S N - 1 - s)%nat with (N - s)%nat by lia.
  destruct (Nat.ltb_spec s N) as [early | late].
  - replace (N - s)%nat with (S (N - 1 - s)) by lia. reflexivity.
  - replace (N - 1 - s)%nat with O by lia. replace (N - s)%nat with O by lia. simpl. ring.
Qed.

Lemma first_of (f : nat -> R) a n : sum (Nat.min a n) f = sum a (fun s => if (s <? n)%nat then f s else 0).
Proof.
  induction a as [| a IH]; [reflexivity |]. cbn [sum]. rewrite <- IH. destruct (Nat.ltb_spec a n) as [early | late].
  - replace (Nat.min (S a) n) with (S a) by lia. replace (Nat.min a n) with a by lia. reflexivity.
  - replace (Nat.min (S a) n) with n by lia. replace (Nat.min a n) with n by lia. ring.
Qed.

Lemma past_moves_in_mean : mean_over_updates A (past_step_lengths_sq A) <= largest_staleness A * mean_step_length_sq A.
Proof.
  unfold mean_step_length_sq, mean_over_updates, past_step_lengths_sq, largest_staleness.
  replace (INR (staleness A) * (1 / N_of A * sum (updates A) (step_length_sq A)))
    with (1 / N_of A * (INR (staleness A) * sum (updates A) (step_length_sq A))) by ring.
  pose proof (N_at_least_one A). apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra |].
  rewrite (sum_ext _ _ (fun n => sum (staleness A) (fun s => if (s <? n)%nat then step_length_sq A (n - 1 - s) else 0)))
    by (intros; apply (first_of (fun s => step_length_sq A (i - 1 - s)))).
  rewrite sum_swap, <- sum_const. apply sum_le. intros s _.
  rewrite (shifted (step_length_sq A)). apply sum_grows; [intros; apply dot_self | lia].
Qed.

Lemma by_past c : 0 <= c ->
  c * mean_over_updates A (past_step_lengths_sq A) <= c * (largest_staleness A * mean_step_length_sq A).
Proof. intros. apply Rmult_le_compat_l; [assumption | apply past_moves_in_mean]. Qed.

(** Signs. *)
Lemma client_spread_nonneg n : 0 <= client_spread A n.
Proof.
  apply each_step. intros. apply sum_nonneg. intros. apply Rmult_le_pos; [apply share_nonneg_of; assumption | apply dot_self].
Qed.

Lemma mean_square_nonneg n : 0 <= mean_square_gradient A n.
Proof. apply each_step. intros. apply step_square_nonneg. Qed.

Lemma square_mean_gradient_nonneg n : 0 <= square_mean_gradient A n.
Proof. apply each_step. intros. apply dot_self. Qed.

Lemma past_moves_nonneg n : 0 <= past_step_lengths_sq A n.
Proof. apply sum_nonneg. intros. apply dot_self. Qed.

Lemma mean_move_nonneg : 0 <= mean_step_length_sq A.
Proof. apply each_update. intros. apply dot_self. Qed.

Lemma round_gap_nonneg bar_n n : minimiser A (round_objective A n) (bar_n n) -> 0 <= round_gap A bar_n n.
Proof. intros [_ least]. apply each_step. intros k _. pose proof (least (virtual A n k)). lra. Qed.

Lemma residual_nonneg bar bar_n : (forall n, (n < updates A)%nat -> minimiser A (round_objective A n) (bar_n n)) ->
  0 <= residual A bar bar_n.
Proof. intros optima. apply each_update. intros n Hn. pose proof (proj2 (optima n Hn) bar). lra. Qed.

Lemma optimum_noise_nonneg draw bar_n n : 0 <= optimum_noise A draw bar_n n.
Proof. apply sum_nonneg. intros. apply Rmult_le_pos; [apply share_nonneg_of; assumption | apply dot_self]. Qed.

Lemma mixed_optimum_noise_nonneg draw bar_n n : 0 <= mixed_optimum_noise A draw bar_n n.
Proof. apply sum_nonneg. intros. apply Rmult_le_pos; [apply pow2_ge_0 | apply dot_self]. Qed.

Lemma mean_optimum_noise_nonneg draw bar_n : 0 <= mean_optimum_noise A draw bar_n.
Proof. apply each_update. intros. apply optimum_noise_nonneg. Qed.

Lemma mean_mixed_optimum_noise_nonneg draw bar_n : 0 <= mean_mixed_optimum_noise A draw bar_n.
Proof. apply each_update. intros. apply mixed_optimum_noise_nonneg. Qed.

Lemma mean_sum_below : 0 <= largest_weight_sum A - mean_weight_sum A.
Proof.
  unfold mean_weight_sum. rewrite mean_weights_add_up. unfold mean_over_updates. pose proof (N_at_least_one A).
  assert (sum (updates A) (weight_sum A) <= N_of A * largest_weight_sum A).
  { unfold N_of. rewrite <- sum_const. apply sum_le. intros n Hn. apply weight_sum_below. assumption. }
  apply Rmult_le_compat_l with (r := 1 / N_of A) in H0; [| apply Rlt_le, Rdiv_lt_0_compat; lra].
  replace (1 / N_of A * (N_of A * largest_weight_sum A)) with (largest_weight_sum A) in H0 by (field; lra). lra.
Qed.

Lemma spread_factor_at_least_one alpha d : 1 <= spread_factor A alpha d.
Proof.
  unfold spread_factor. pose proof (excess_nonneg A alpha d). pose proof (at_least_one A).
  match goal with |- context [Rmax 0 ?x] => pose proof (Rmax_l 0 x) end.
  assert (0 <= server_size A ^ 2 * largest_weight_sum A * weight_excess A alpha d)
    by (pose proof (server_size_positive A); repeat apply Rmult_le_pos; lra). lra.
Qed.

Lemma squares_of_sums n : (n < updates A)%nat -> 0 <= largest_weight_sum A ^ 2 - weight_sum A n ^ 2.
Proof.
  intros Hn. pose proof (weight_sum_below A n Hn). pose proof (total_nonneg A n).
  replace (largest_weight_sum A ^ 2 - weight_sum A n ^ 2)
    with ((largest_weight_sum A - weight_sum A n) * (largest_weight_sum A + weight_sum A n)) by ring.
  apply Rmult_le_pos; lra.
Qed.

(** An update in which nobody counts. *)
Section Nobody.
Context (n : nat) (nobody : weight_sum A n = 0).

Lemma no_weight i : (i < number C)%nat -> expected_weight A n i = 0.
Proof. intros Hi. rewrite <- (weight_of_share A n i Hi), nobody. ring. Qed.

Lemma no_share i : weight_share A n i = 0.
Proof. unfold weight_share. rewrite nobody. unfold Rdiv. rewrite Rinv_0. ring. Qed.

Lemma zero_steps f : (forall k, f k = 0) -> mean_over_steps A f = 0.
Proof. intros H. unfold mean_over_steps. rewrite (sum_ext _ f (fun _ => 0)) by auto. rewrite sum_const. ring. Qed.

Lemma zero_clients f : (forall i, (i < number C)%nat -> f i = 0) -> total f = 0.
Proof. intros H. rewrite (sum_ext _ f (fun _ => 0)) by auto. rewrite sum_const. ring. Qed.

Lemma no_value x : value (round_objective A n) x = 0.
Proof. cbn [value round_objective sum_objective]. apply zero_clients. intros i Hi. rewrite (no_weight i Hi). ring. Qed.

Lemma no_gap bar_n : round_gap A bar_n n = 0.
Proof. apply zero_steps. intros. rewrite !no_value. ring. Qed.

Lemma no_surrogate_gap bar : surrogate_gap A bar n = 0.
Proof. apply zero_steps. intros. rewrite !no_value. ring. Qed.

Lemma no_alignment bar : alignment A bar n = 0.
Proof. apply zero_steps. intros. apply zero_clients. intros i Hi. rewrite (no_weight i Hi). ring. Qed.

Lemma no_square : mean_square_gradient A n = 0.
Proof. apply zero_steps. intros. apply zero_clients. intros. rewrite no_share. ring. Qed.

Lemma no_mean : square_mean_gradient A n = 0.
Proof.
  apply zero_steps. intros k. unfold square_mean_at. rewrite square_of_sum.
  apply zero_clients. intros i _. apply zero_clients. intros j _. rewrite dot_scale, no_share. ring.
Qed.

Lemma no_optimum_noise draw bar_n : optimum_noise A draw bar_n n = 0.
Proof. apply zero_clients. intros. rewrite no_share. ring. Qed.

Lemma no_mixed_optimum_noise draw bar_n : mixed_optimum_noise A draw bar_n n = 0.
Proof. apply zero_clients. intros. rewrite no_share. ring. Qed.
End Nobody.
End Definitions.

(** That a mean is the one of a quantity, up to the order of factors. *)
Ltac is_mean :=
  apply Req_le; apply f_equal2; [reflexivity |]; first
    [ reflexivity | apply steps_same | apply updates_same
    | unfold client_spread, mean_square_gradient, weighted_past_sum, past_mean_square_gradient, mean_over_steps,
        step_square, client_distance_sq, gradient_sq, K_of, Rdiv;
      first
        [ apply f_equal2; [reflexivity | apply sum_ext; intros; apply sum_ext; intros; ring]
        | rewrite Rmult_1_l, Rmult_comm; apply f_equal2; [apply sum_ext; intros; ring | reflexivity] ]
    | apply sum_ext; intros; ring ].

(** Signs of numbers, by those of their parts. *)
Ltac sign :=
  match goal with
  | |- 0 <= _ * _ => apply Rmult_le_pos; sign
  | |- 0 <= _ / _ => apply quotient_nonneg; [sign | first [assumption | lra | positive]]
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; sign
  | |- 0 <= _ => first [assumption | lra | apply Rplus_le_le_0_compat; sign]
  end.

(** A relation from a lemma that says it in another order, or of a multiple. *)
Ltac by_bound fact := first [exact fact | lra | unfold Rdiv in *; lra].
