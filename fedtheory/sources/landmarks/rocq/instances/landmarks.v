(** The contraction of FedAvg with momentum on two clients with noise: its hypotheses can be met together. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Run Instance TwoClients CoinRuns AlikeInstance Definitions.
Require Import landmarks_fedavgm_contraction.
Open Scope R_scope.

(** Two rounds of a single step of size 1/12, with momentum 1/2. *)
Definition single_steps : run := alike (1 / 12) 1 2 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1).
Definition known_before (n : nat) (u : V) : Prop := known n O u.
Notation at_round n := (step_of_round single_steps (1 / 2) n).

Lemma starts_known n i : known_before n (local_iterate (at_round n) i).
Proof. destruct n; [intros w j; reflexivity | exact I]. Qed.

Lemma single_steps_unbiased n : unbiased (at_round n) (known_before n).
Proof.
  pose proof (steps_unbiased _ _ (alike_unbiased (1 / 12) 1 2 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1)) n O) as known_step.
  constructor.
  - exact (past_plus _ _ known_step).
  - exact (past_scale _ _ known_step).
  - exact (past_gradient _ _ known_step).
  - apply starts_known.
  - destruct n; [intros w j; reflexivity | exact I].
  - exact (noise_fresh _ _ known_step).
  - exact (noise_independent _ _ known_step).
Qed.

Lemma single_steps_minimiser : minimiser (at_round O) middle.
Proof. exact (alike_minimiser (1 / 12) 1 2 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1) O O). Qed.

Lemma middle_before n : known_before n middle.
Proof. apply middle_is_known. Qed.

Lemma states_known n : known_before n (x (after single_steps (1 / 2) n)).
Proof. destruct n; [intros w j; reflexivity | exact I]. Qed.

Lemma speeds_known n : known_before n (v (after single_steps (1 / 2) n)).
Proof. destruct n; [intros w j; reflexivity | exact I]. Qed.

Lemma two_points : exists u w : space_of single_steps, 0 < ‖u - w‖².
Proof.
  exists (fun _ _ => 1), (fun _ _ => 0). set (d := minus _ _). change (0 < dot (d : V) d). rewrite expected_of_all.
  unfold d. cbn. lra.
Qed.

Lemma one_step : tau single_steps <= 1.
Proof. unfold tau. cbn. lra. Qed.

Lemma slow_enough : size_of single_steps <= ((1 - (1 / 2)) ^ 2) / (1 * (2 + 2 * (1 / 2))).
Proof. cbn. lra. Qed.

Definition landmarks_instance :=
  landmarks_fedavgm_contraction single_steps ltac:(cbn; lra) (1 / 2) known_before single_steps_unbiased middle
    middle_before 1 Rlt_0_1
    (fun n => alike_convex (1 / 12) 1 2 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1) n O)
    (fun n => alike_smooth (1 / 12) 1 2 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1) n O) 1 Rlt_0_1
    (fun n => alike_strongly_convex (1 / 12) 1 2 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1) n O) 1 Rle_0_1
    (fun n => coin_run_variance alike_client (1 / 12) 1 2 1 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1) n O)
    (fun n => coin_run_uniform alike_client (1 / 12) 1 2 1 (Nat.lt_0_succ 0) (Nat.lt_0_succ 1)) single_steps_minimiser
    ltac:(lra) ltac:(lra) states_known speeds_known two_points one_step slow_enough ltac:(lra).
