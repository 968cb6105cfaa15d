(** The local steps of a round as steps: Vlaski & Sayed (2023), from (5.49) to (5.54). *)

From Coq Require Import Reals Lra Lia.
Require Run.
Require Import Space Clients Objectives Normal Step Own Round.
Open Scope R_scope.

(** Local step e of all clients. *)
Definition step_of (A : round) (e : nat) : step :=
  {| step_space := step_space A; step_clients := step_clients A; client_objective := client_objective A;
     local_iterate := iterate A e; gradient_noise := noise_of A e; step_size := step_size A;
     server_model := server_model A |}.

(** Bounds that follow from step to step. *)
Definition from_step_to_step := Run.recursion.

Section Steps.
Context (A : round).

Lemma own_next e i : normalised_steps A -> own_next_iterate (step_of A e) (E_of A) i = iterate A (S e) i.
Proof. intros N. unfold own_next_iterate, own_size. cbn [iterate]. rewrite N. reflexivity. Qed.

Lemma before_last e i : (e < steps_of_client A i)%nat -> INR e + 1 <= E_of A i.
Proof. intros H. unfold E_of. rewrite <- S_INR. apply le_INR. lia. Qed.

Lemma from_one e : (1 <= e)%nat -> 1 <= INR e.
Proof. intros H. replace 1 with (INR 1) by reflexivity. apply le_INR. exact H. Qed.

Lemma starts_at_server i : ‖iterate A O i - server_model A‖² = 0.
Proof. cbn [iterate]. rewrite minus_self. apply dot_zero. Qed.
End Steps.
