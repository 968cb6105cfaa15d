(** Draws of the clients of a server with an old model, and weights that are independent of them: all that is assumed
    of draws is fulfilled where there is one outcome. *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives Instance Stale Weights Samples Windows StaleInstance.
Open Scope R_scope.

Definition whatever (_ : V) : Prop := True.

Theorem stale_draws : unbiased_draws stale_server whatever (fun _ _ => whatever) (fun _ _ => objective_at).
Proof.
  constructor; unfold whatever; auto. intros n k i _. unfold sample. cbn [noise_of stale_server]. apply plus_zero.
Qed.

Lemma unit_curvature : between one_outcome (fun _ _ => 1) 1.
Proof. split; [reflexivity |]. intros v. unfold product_in_Rd, applied. cbn. pose proof (pow2_ge_0 (v O)). lra. Qed.

Theorem stale_smooth_draws : smooth_draws stale_server 1 (fun _ _ => objective_at).
Proof.
  constructor; [intros n k i _ | intros n k i _ | intros i _ | intros i _].
  1, 3: exact (quadratic_convex _ _ _ _ unit_curvature).
  all: exact (quadratic_smooth _ _ _ _ unit_curvature).
Qed.

Theorem stale_independent : independent_weights stale_server whatever (fun _ => whatever).
Proof. constructor; unfold whatever; auto. intros n i u v _ _ _. cbn [weighed expected_weight stale_server]. apply dot_scale. Qed.

Theorem stale_round_minimiser n : minimiser stale_server (round_objective stale_server n) (fun _ _ => 1 / 2).
Proof. exact stale_minimiser. Qed.

Theorem stale_weights_are_given : weights_are_given stale_server.
Proof. intros n i v. reflexivity. Qed.

Theorem stale_window : smallest_window stale_server 1.
Proof.
  split; [| intros other [positive _]; exact positive]. split; [lia |]. exists 2%nat. split; [reflexivity |].
  intros b i _ _. reflexivity.
Qed.
