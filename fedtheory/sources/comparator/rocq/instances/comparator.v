(** The mean error against a comparator on a run of two clients with noise: its hypotheses can be met together. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Run Instance TwoClients CoinRuns AlikeInstance.
Require Import comparator_average_error.
Open Scope R_scope.

Definition same_noise n k := coin_run_drawn_there alike_client (1 / 4) 2 1 1 (Nat.lt_0_succ 1) (Nat.lt_0_succ 0) alike_by_model n k.

Lemma two_steps_smooth_noise : forall n k, smooth_noise (step_at two_steps n k) (1 / 100) middle (noise n k).
Proof. apply coin_run_smooth_noise; [lra | exact two_steps_convex]. Qed.

Lemma hundredth_positive : 0 < 1 / 100.
Proof. lra. Qed.

Lemma two_steps_condition :
  2 * (1 / 100) * size_of two_steps * (1 + 1 * size_of two_steps) / M_of two_steps
  + 1 * (size_of two_steps ^ 2) * (tau two_steps - 1) * (2 + tau two_steps)
    * (1 + 1 / 100 * (1 - (1 / (M_of two_steps))) / 2) <= 1.
Proof. unfold M_of, tau. cbn. lra. Qed.

Definition comparator_instance :=
  comparator_average_error two_steps quarter_positive known two_steps_unbiased 1 Rlt_0_1 two_steps_convex
    two_steps_smooth two_steps_uniform middle two_steps_minimiser middle_is_known middle middle_is_known noise same_noise
    (1 / 100) hundredth_positive two_steps_smooth_noise 1 Rle_0_1 (coin_run_noise_there _ _ _ _ _ _ _) 1 Rle_0_1
    (fun n k => alike_dissimilarity_at _ _ _ _ _ n k middle) two_steps_small two_steps_condition.
