(** The theorem on (7) against any point, on a server with an old model and noise: its hypotheses can be met together. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Instance Stale Weights Samples TwoClients StaleInstance NoisyStaleInstance.
Require Run.
Require Import fraboni2022_thm_1_any_point.
Open Scope R_scope.

Notation half := (fun _ _ : nat => 1 / 2).

Lemma no_excess : weight_excess noisy_stale_server 1 half = 0.
Proof. unfold weight_excess. cbn. unfold Rmax. repeat destruct Rle_dec; lra. Qed.

Lemma weights_sum_to_one : largest_weight_sum noisy_stale_server = 1.
Proof. unfold largest_weight_sum, weight_sum. cbn. unfold Rmax. repeat destruct Rle_dec; lra. Qed.

Lemma no_spread : spread_factor noisy_stale_server 1 half = 1.
Proof.
  unfold spread_factor. rewrite no_excess, weights_sum_to_one. cbn. unfold Rmax. destruct Rle_dec; lra.
Qed.

Lemma one_update_late : largest_staleness noisy_stale_server = 1.
Proof. reflexivity. Qed.

Ltac of_numbers :=
  rewrite ?no_spread, ?no_excess, ?weights_sum_to_one, ?one_update_late; unfold K_of; cbn; lra.

Lemma settled_middle : settled best_of_two.
Proof. intros w j. reflexivity. Qed.

Definition fraboni2022_instance :=
  fraboni2022_thm_1_any_point noisy_stale_server noisy_scheme best_of_two (fun _ => best_of_two)
    (fun n _ => noisy_minimiser n) 1 half noisy_weights settled other_coins noisy_draw noisy_draws 1 Rlt_0_1
    noisy_smooth_draws (fun _ _ => True) noisy_independent settled_middle (fun _ => settled_middle)
    ltac:(of_numbers) ltac:(of_numbers) ltac:(of_numbers) ltac:(of_numbers).
