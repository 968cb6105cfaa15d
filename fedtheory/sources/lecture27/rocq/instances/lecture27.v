(** Theorem 2 of lecture 27, on distributed gradient descent, for two clients with Lipschitz losses: its hypotheses can be
    met together. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Own Run Lengths Interval Gaps LipschitzInstance.
Require Import lecture27_thm_2.
Open Scope R_scope.

Lemma no_further_than_the_start n : (n < rounds_of lipschitz_run)%nat -> ‖server lipschitz_run n - (0 : line)‖² <= 1 / (1 / 16).
Proof.
  intros Hn. rewrite square_on_line. cbn in Hn. destruct n as [| [| n]]; try lia.
  - cbn. lra.
  - rewrite (proj1 lipschitz_servers). lra.
Qed.

(** Intervals end at 7/2 and at 3, as the centralised steps are those of the mean. *)
Lemma gaps_of_intervals n : (n < rounds_of lipschitz_run)%nat -> 5 / 2 <= interval_gap lipschitz_run (0 : line) n 2.
Proof.
  intros Hn. unfold interval_gap. cbn [centralised]. cbn in Hn. destruct n as [| [| n]]; try lia.
  - change (server lipschitz_run 0) with (4 : R). cbn. unfold tilt. far_out. by_pieces.
  - rewrite (proj1 lipschitz_servers). cbn. unfold tilt. far_out. by_pieces.
Qed.

Lemma gap_at_end : 5 / 2 <= final_suboptimality lipschitz_run (0 : line).
Proof.
  unfold final_suboptimality. change (rounds_of lipschitz_run) with 2%nat. rewrite (proj2 lipschitz_servers).
  cbn. unfold tilt. by_pieces.
Qed.

Definition lecture27_instance :=
  lecture27_thm_2 lipschitz_run ltac:(cbn; lra) lipschitz_quiet 1 Rlt_0_1 lipschitz_convex lipschitz_smooth (5 / 4)
    ltac:(lra) lipschitz_losses (0 : line) lipschitz_minimiser (fun _ => 1 / 4) ltac:(intros; lra) lipschitz_dissimilarity
    (1 / 16) ltac:(lra) no_further_than_the_start (5 / 2) ltac:(lra) gaps_of_intervals gap_at_end ltac:(cbn; lra)
    ltac:(unfold tau, mean; cbn; lra).
