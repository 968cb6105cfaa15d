(** No curvature is larger than the largest, roots of numbers below one, and sums with means over the clients. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Own Round.
Open Scope R_scope.

(** Of an objective on a space that has more than one point. *)
Lemma curvature {V : space} (f : objective V) L nu : smooth L f -> strongly_convex nu f -> (exists v : V, 0 < ‖v‖²) ->
  nu <= L.
Proof.
  intros Hs Hc [v Hv]. pose proof (proj2 (Hs v zero)) as above. pose proof (Hc v zero) as below.
  replace (‖v - zero‖²) with (‖v‖²) in *.
  - apply Rmult_le_reg_r with (‖v‖² / 2); lra.
  - expand_dots. rewrite !dot_zero, ?(dot_comm _ _ zero), ?dot_zero. ring.
Qed.

Lemma root_below_one b : 0 <= b -> b < 1 -> sqrt b < 1.
Proof. intros. rewrite <- sqrt_1. apply sqrt_lt_1; lra. Qed.

Lemma root_at_least a b : 0 <= a -> a ^ 2 <= b -> a <= sqrt b.
Proof. intros. rewrite <- (sqrt_pow2 a) by assumption. apply sqrt_le_1_alt. assumption. Qed.

Ltac sum_positive :=
  repeat first
    [ apply Rplus_lt_le_0_compat; [| solve [of_signs]] | apply Rplus_le_lt_0_compat; [solve [of_signs] |] ];
  positive.
