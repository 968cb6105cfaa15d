(** Lemmas for theorems about algorithms given by definitions; the file of each theorem contains its definition. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Run.
Open Scope R_scope.

Lemma only_step (A : run) : tau A <= 1 -> steps_of A = 1%nat.
Proof.
  intros H. pose proof (some_steps A). assert (steps_of A <= 1)%nat; [| lia]. apply INR_le. exact H.
Qed.

(** Proves equations between linear combinations of vectors by comparing the coefficients of each vector. *)
Inductive linear := LZero | LAtom (k : nat) | LPlus (a b : linear) | LMinus (a b : linear) | LScale (c : R) (a : linear).

Section Linear.
Context {V : space}.

Fixpoint combined (atoms : list V) (e : linear) : V :=
  match e with
  | LZero => zero
  | LAtom k => List.nth k atoms zero
  | LPlus a b => plus (combined atoms a) (combined atoms b)
  | LMinus a b => minus (combined atoms a) (combined atoms b)
  | LScale c a => scale c (combined atoms a)
  end.

Fixpoint coefficient (e : linear) (k : nat) : R :=
  match e with
  | LZero => 0
  | LAtom l => if Nat.eqb k l then 1 else 0
  | LPlus a b => coefficient a k + coefficient b k
  | LMinus a b => coefficient a k - coefficient b k
  | LScale c a => c * coefficient a k
  end.

Definition spelled (atoms : list V) (c : nat -> R) : V :=
  vsum (List.length atoms) (fun k => scale (c k) (List.nth k atoms zero)).

Lemma vsum_plus n (f g : nat -> V) : vsum n (fun k => plus (f k) (g k)) = plus (vsum n f) (vsum n g).
Proof.
  induction n as [| n IH]; cbn [vsum]; [symmetry; apply plus_zero |]. rewrite IH, !plus_assoc. f_equal.
  rewrite <- !plus_assoc. f_equal. apply plus_comm.
Qed.

Lemma scale_of_zero (c : R) : scale c (@zero V) = zero.
Proof. rewrite <- (scale_zero V zero), scale_scale. f_equal. ring. Qed.

Lemma vsum_scale n (c : R) (f : nat -> V) : vsum n (fun k => scale c (f k)) = scale c (vsum n f).
Proof. induction n as [| n IH]; cbn [vsum]; [symmetry; apply scale_of_zero | rewrite IH, scale_plus; reflexivity]. Qed.

Lemma vsum_zero n (f : nat -> V) : (forall k, (k < n)%nat -> f k = zero) -> vsum n f = zero.
Proof.
  intros H. rewrite (vsum_ext _ _ (fun _ => scale 0 zero)); [rewrite vsum_const; apply scale_of_zero |].
  intros k Hk. rewrite scale_zero. apply H, Hk.
Qed.

Lemma vsum_of_one n (f : nat -> V) l : ((n <= l)%nat -> f l = zero) ->
  vsum n (fun k => scale (if Nat.eqb k l then 1 else 0) (f k)) = f l.
Proof.
  induction n as [| n IH]; intros H; cbn [vsum]; [symmetry; apply H; lia |].
  destruct (Nat.eqb_spec n l) as [<- | other].
  - rewrite vsum_zero, scale_one; [rewrite plus_comm; apply plus_zero |].
    intros k Hk. destruct (Nat.eqb_spec k n); [lia | apply scale_zero].
  - rewrite scale_zero, plus_zero. apply IH. intros Hl. apply H. lia.
Qed.

Lemma combined_spelled atoms e : combined atoms e = spelled atoms (coefficient e).
Proof.
  unfold spelled. induction e as [| l | a IHa b IHb | a IHa b IHb | c a IHa]; cbn [combined coefficient].
  - symmetry. apply vsum_zero. intros. apply scale_zero.
  - symmetry. apply vsum_of_one. intros. apply List.nth_overflow. assumption.
  - rewrite IHa, IHb, <- vsum_plus. apply vsum_ext. intros. symmetry. apply plus_scale.
  - unfold minus. rewrite IHa, IHb, <- vsum_scale, <- vsum_plus. apply vsum_ext. intros.
    rewrite scale_scale, <- plus_scale. f_equal. ring.
  - rewrite IHa, <- vsum_scale. apply vsum_ext. intros. apply scale_scale.
Qed.

Lemma equal_combinations atoms a b :
  (forall k, (k < List.length atoms)%nat -> coefficient a k = coefficient b k) -> combined atoms a = combined atoms b.
Proof. intros H. rewrite !combined_spelled. apply vsum_ext. intros k Hk. rewrite (H k Hk). reflexivity. Qed.
End Linear.

Ltac place_of v atoms :=
  lazymatch atoms with
  | cons v _ => constr:(O)
  | cons _ ?rest => let k := place_of v rest in constr:(S k)
  end.

Ltac occurring u atoms :=
  lazymatch u with
  | zero => atoms
  | plus ?a ?b => let found := occurring a atoms in occurring b found
  | minus ?a ?b => let found := occurring a atoms in occurring b found
  | scale _ ?a => occurring a atoms
  | _ => match atoms with
         | _ => let known := place_of u atoms in atoms
         | _ => constr:(cons u atoms)
         end
  end.

Ltac as_linear u atoms :=
  lazymatch u with
  | zero => constr:(LZero)
  | plus ?a ?b => let f := as_linear a atoms in let g := as_linear b atoms in constr:(LPlus f g)
  | minus ?a ?b => let f := as_linear a atoms in let g := as_linear b atoms in constr:(LMinus f g)
  | scale ?c ?a => let f := as_linear a atoms in constr:(LScale c f)
  | _ => let k := place_of u atoms in constr:(LAtom k)
  end.

Ltac by_linear :=
  lazymatch goal with
  | |- ?u = ?v :> vector ?V =>
      let first := occurring u (@nil (vector V)) in
      let atoms := occurring v first in
      let f := as_linear u atoms in
      let g := as_linear v atoms in
      apply (equal_combinations (V := V) atoms f g);
      let k := fresh "k" in
      let Hk := fresh "Hk" in
      intros k Hk; cbn [List.length] in Hk; repeat first [exfalso; lia | destruct k as [| k]; [cbn; ring |]]
  end.

(** Replaces sums over clients by zero if all summands vanish; the tactic in the argument unfolds a summand. *)
Ltac without_sums opened :=
  repeat match goal with
  | |- context [vsum ?n ?f] =>
      rewrite (vsum_zero n f) by (intros; cbv beta; repeat match goal with |- context [if ?b then _ else _] => destruct b end; opened; by_linear)
  end.

(** Mixing by the matrix W: client i receives sum_j W_ij v_j, and squared deviations from the average contract. *)
Definition heard {V : space} (C : clients) (W : nat -> nat -> R) (v : nat -> V) (i : nat) : V :=
  vsum (number C) (fun j => (W i j • v j)%vec).
Definition mixes (V : space) (C : clients) (W : nat -> nat -> R) (rho : R) : Prop := forall v : nat -> V,
  mean C (fun i => ‖heard C W v i - vmean C (heard C W v)‖²) <= rho ^ 2 * mean C (fun i => ‖v i - vmean C v‖²).

(** A recursion x_{n+1} <= q x_n + b bounds the value after the last round. *)
Lemma shrinks_to (V : nat -> R) q b v : 0 <= q -> q < 1 -> 0 <= b -> V O <= v ->
  (forall n, V (S n) <= q * V n + b) -> forall n, V n <= q ^ n * v + b / (1 - q).
Proof.
  intros Hq Hq1 Hb start step. set (floor := b / (1 - q)).
  assert (floor_nonneg : 0 <= floor) by (apply quotient_nonneg; lra).
  assert (kept : q * floor + b = floor) by (unfold floor; field; lra).
  intros n. induction n as [| n IH]; [simpl; lra |].
  apply Rle_trans with (1 := step n). apply (Rmult_le_compat_l q) in IH; [| assumption]. simpl. lra.
Qed.

Lemma start_distance (A : run) x : 0 <= initial_distance A x ^ 2 - ‖start A - x‖².
Proof. unfold initial_distance. simpl. rewrite Rmult_1_r, length_square. lra. Qed.

(** A number b with 0 <= b < 1 is u/(1 + u) for some u >= 0. *)
Lemma as_ratio b : 0 <= b -> b < 1 -> exists u, 0 <= u /\ b = u / (1 + u).
Proof.
  intros Hb Hb1. exists (b / (1 - b)). split; [apply quotient_nonneg; lra |]. field. lra.
Qed.

(** The strong convexity is at most the smoothness, if there are two different points. *)
Lemma curvatures {V : space} (f : objective V) L mu (u w : V) :
  smooth L f -> strongly_convex mu f -> 0 < ‖u - w‖² -> mu <= L.
Proof.
  intros Hs Hc apart. pose proof (proj2 (Hs u w)). pose proof (Hc u w).
  apply Rmult_le_reg_r with (‖u - w‖² / 2); lra.
Qed.
