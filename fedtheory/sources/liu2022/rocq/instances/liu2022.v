(** Theorem 1 of Liu et al. (2022) on a run of two clients with noise: its hypotheses can be met together. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Run Instance TwoClients CoinRuns AlikeInstance.
Require Import liu2022_thm_1.
Open Scope R_scope.

Definition liu2022_instance :=
  liu2022_thm_1 two_steps quarter_positive known two_steps_unbiased two_steps_uniform 1 Rlt_0_1 two_steps_smooth
    1 Rle_0_1 two_steps_variance 3 three_nonnegative two_steps_second_moment middle two_steps_minimiser middle_is_known
    two_steps_small.
