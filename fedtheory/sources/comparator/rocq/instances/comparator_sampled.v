(** The error of the last model against the optimum on a run of two clients with draws and noise: its hypotheses can be
    met together. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Instance TwoClients CoinRuns AlikeInstance.
Require Run.
Require Import Sampled NoisySampledInstance.
Require Import comparator_sampled_last_model.
Open Scope R_scope.

(** Steps are those of a run in which all clients take part, but for where they start. *)
Notation all_alike := (alike (1 / 100) 2 2 (Nat.lt_0_succ 1) (Nat.lt_0_succ 1)).

Lemma draws_convex : always noisy_draws_run convex_clients.
Proof. intros n k. exact (alike_convex (1 / 100) 2 2 (Nat.lt_0_succ 1) (Nat.lt_0_succ 1) n k). Qed.

Lemma draws_smooth : always noisy_draws_run (fun S => smooth_clients S 1).
Proof. intros n k. exact (alike_smooth (1 / 100) 2 2 (Nat.lt_0_succ 1) (Nat.lt_0_succ 1) n k). Qed.

Lemma draws_strongly_convex : always noisy_draws_run (fun S => strongly_convex_clients S 1).
Proof. intros n k. exact (alike_strongly_convex (1 / 100) 2 2 (Nat.lt_0_succ 1) (Nat.lt_0_succ 1) n k). Qed.

Lemma draws_minimiser : minimiser (step_at noisy_draws_run O O) middle.
Proof. exact (alike_minimiser (1 / 100) 2 2 (Nat.lt_0_succ 1) (Nat.lt_0_succ 1) O O). Qed.

Lemma middle_is_known_here n k : known_here n k middle.
Proof. cases_here n k; cbn -[Nat.modulo]; auto. Qed.

Lemma drawn_there n k : drawn_at (step_at noisy_draws_run n k) (known_here n k) (first_noise n k).
Proof.
  pose proof (steps_unbiased _ _ noisy_drawn_unbiased n k) as unbiased_here.
  constructor; intros; [apply (noise_fresh _ _ unbiased_here) | ..]; auto;
    apply (noise_independent _ _ unbiased_here); auto.
Qed.

Lemma draws_smooth_noise n k : smooth_noise (step_at noisy_draws_run n k) (1 / 100) middle (first_noise n k).
Proof.
  intros i Hi. cbn [gradient_noise step_at].
  change (Run.noise_of noisy_draws_run n k i) with (first_noise n k i). rewrite minus_self, dot_zero.
  apply Rmult_le_pos; [lra | apply (draws_convex n k i Hi)].
Qed.

Lemma noise_of_draws n k : noise_at (step_at noisy_draws_run n k) (first_noise n k) 1.
Proof.
  apply Rle_trans with (mean two (fun _ => 1 ^ 2)); [| right; apply mean_const].
  apply mean_le. intros i Hi. cbn in Hi.
  cases_here n k; [exact (two_clients_variance O O i Hi) | |]; change (dot (zero : V) (zero : V) <= 1 ^ 2); rewrite dot_zero; lra.
Qed.

Lemma draws_dissimilarity n k : dissimilarity_at (step_at noisy_draws_run n k) middle 1.
Proof. exact (alike_dissimilarity_at (1 / 100) 2 2 (Nat.lt_0_succ 1) (Nat.lt_0_succ 1) n k middle). Qed.

Lemma half_each : always noisy_draws_run (fun S => largest_share S (1 / 2)).
Proof. intros n k i _. right. reflexivity. Qed.

Definition comparator_sampled_instance :=
  comparator_sampled_last_model noisy_draws_run ltac:(cbn; lra) known_here noisy_drawn_unbiased 1 Rlt_0_1 draws_convex
    draws_smooth 1 Rlt_0_1 draws_strongly_convex middle draws_minimiser middle_is_known_here first_noise drawn_there
    (1 / 100) ltac:(lra) draws_smooth_noise 1 Rle_0_1 noise_of_draws 1 Rle_0_1 draws_dissimilarity (1 / 2) ltac:(lra)
    half_each 1 Rle_0_1 noisy_drawn_participants ltac:(cbn; lra) ltac:(unfold Run.tau; cbn; lra)
    ltac:(unfold Run.tau; cbn; lra) ltac:(cbn; lra).
