(** One client's local step in a round, with constants of each client: Vlaski & Sayed (2023), chapter 5.

    Client i takes E_i steps of size mu/E_i in a round that starts at w; w_i minimises its objective.  The gradient
    of a step's sample is evaluated at the iterate, with noise n_i, and at w, with noise m_i. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step.
Open Scope R_scope.

Section Definitions.
Context (S : step) (E : nat -> R).
Notation V := (step_space S).
Notation C := (step_clients S).
Notation F_i := (client_objective S).

(** (5.26): step sizes that are normalised by the number of local steps. *)
Definition own_size (i : nat) : R := step_size S / E i.
Definition own_next_iterate (i : nat) : V := (local_iterate S i - own_size i • stochastic_gradient S i)%vec.
Definition gradient_at_server_model (m : nat -> V) (i : nat) : V := (grad (F_i i) (server_model S) + m i)%vec.

Definition own_strongly_convex (nu : nat -> R) : Prop :=
  forall i, (i < number C)%nat -> strongly_convex (nu i) (F_i i).
Definition own_smooth (delta : nat -> R) : Prop := forall i, (i < number C)%nat -> smooth (delta i) (F_i i).

(** (5.28): the variance grows with the distance from the client's minimiser.  Condition 5.1: gradients of
    samples are Lipschitz in mean square. *)
Definition variance_at_iterates (w : nat -> V) (beta sigma : nat -> R) : Prop := forall i, (i < number C)%nat ->
  ‖gradient_noise S i‖² <= beta i ^ 2 * ‖w i - local_iterate S i‖² + sigma i ^ 2.
Definition variance_at_server (w m : nat -> V) (beta sigma : nat -> R) : Prop := forall i, (i < number C)%nat ->
  ‖m i‖² <= beta i ^ 2 * ‖w i - server_model S‖² + sigma i ^ 2.
Definition mean_square_smooth (m : nat -> V) (delta : nat -> R) : Prop := forall i, (i < number C)%nat ->
  ‖stochastic_gradient S i - gradient_at_server_model m i‖² <= delta i ^ 2 * ‖local_iterate S i - server_model S‖².
End Definitions.
