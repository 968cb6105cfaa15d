(** Gradient descent on F during each round of a run, from the server's model at the start of the round.

    Wang et al. (2019), section IV: v_[k](t) in the interval [k], and Definition 1. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Run.
Open Scope R_scope.

Section Definitions.
Context (A : run).

(** v_[k](t) after k steps in round n. *)
Fixpoint centralised (n k : nat) : space_of A :=
  match k with
  | O => server A n
  | S k => let v := centralised n k in (v - size_of A • grad (F_of A) v)%vec
  end.

Lemma power_at_least (b : R) (first k : nat) : 1 <= b -> (first <= k)%nat -> b ^ first <= b ^ k.
Proof. intros H Hk. apply Rle_pow; auto. Qed.
End Definitions.

(** Definition 1: a bound, for each client, on the distance of its gradient from that of F at all points. *)
Definition own_dissimilarity (S : step) (delta : nat -> R) : Prop := forall i x, (i < number (step_clients S))%nat ->
  ‖grad (client_objective S i) x - grad (F S) x‖² <= delta i ^ 2.

Lemma divergence S delta i x : own_dissimilarity S delta -> (i < number (step_clients S))%nat ->
  0 <= delta i ^ 2 - ‖grad (client_objective S i) x - grad (F S) x‖².
Proof. intros H Hi. pose proof (H i x Hi). lra. Qed.
