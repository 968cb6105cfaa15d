(** Theorem 2.1 of Renard (2022) on a run of two clients with noise: its hypotheses can be met together. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Run Instance TwoClients CoinRuns AlikeInstance.
Require Import renard2022_thm_2_1_sharp.
Open Scope R_scope.

Lemma two_steps_below_half : size_of two_steps <= 1 / (2 * 1).
Proof. cbn. lra. Qed.

Definition renard2022_instance :=
  renard2022_thm_2_1_sharp two_steps quarter_positive known two_steps_unbiased two_steps_uniform 1 Rlt_0_1
    two_steps_convex two_steps_smooth 1 Rle_0_1 two_steps_variance 1 Rle_0_1 two_steps_dissimilarity middle
    two_steps_minimiser middle_is_known two_steps_below_half.
