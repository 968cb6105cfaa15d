(** Objectives, given by properties of their values and gradients.

    At a random vector u, [value f u] is E f(u), and every inequality
    between points holds in expectation. *)

From Coq Require Import Reals Lra.
Require Import Space Clients.
Open Scope R_scope.

Record objective (V : space) := {
  value : V -> R;
  grad : V -> V }.

Arguments value {V}.
Arguments grad {V}.

(** The excess of f(y) over the tangent at x. *)
Definition gap {V : space} (f : objective V) (y x : V) : R := value f y - value f x - ⟨grad f x, y - x⟩.

Definition convex {V : space} (f : objective V) : Prop := forall y x, 0 <= gap f y x.

(** Smooth with constant L: the graph stays between two parabolas around every tangent.  For a convex
    function the lower bound holds anyway. *)
Definition smooth {V : space} (L : R) (f : objective V) : Prop :=
  forall y x, - (L / 2 * ‖y - x‖²) <= gap f y x <= L / 2 * ‖y - x‖².

Definition strongly_convex {V : space} (mu : R) (f : objective V) : Prop :=
  forall y x, 0 <= gap f y x - mu / 2 * ‖y - x‖².

Ltac expand_dots :=
  unfold minus;
  repeat first
    [ rewrite !dot_plus | rewrite !dot_scale
    | match goal with
      | |- context [dot ?u (plus ?v ?w)] => rewrite (dot_comm _ u (plus v w))
      | |- context [dot ?u (scale ?a ?w)] => rewrite (dot_comm _ u (scale a w))
      end ].

Section Cocoercivity.
Context {V : space} (f : objective V) (L : R).
Implicit Types x y : V.

(** Nesterov, *Lectures on Convex Optimization* (2018), Theorem 2.1.5. *)
Lemma cocoercive y x : 0 < L -> convex f -> smooth L f ->
  0 <= gap f y x - ‖grad f y - grad f x‖² / (2 * L).
Proof.
  intros HL Hc Hs.
  set (g := minus (grad f y) (grad f x)). set (z := minus y (scale (/ L) g)).
  pose proof (Hc z x) as H1. pose proof (proj2 (Hs z y)) as H2. unfold gap in *.
  assert (E1 : dot (grad f x) (minus z x) = dot (grad f x) (minus y x) - / L * dot (grad f x) g).
  { unfold z. rewrite !(dot_comm V (grad f x)), !dot_minus, dot_scale. ring. }
  assert (E2 : dot (grad f y) (minus z y) = - / L * dot (grad f y) g).
  { unfold z. rewrite !(dot_comm V (grad f y)), !dot_minus, dot_scale. ring. }
  assert (E3 : ‖z - y‖² = / L * / L * ‖g‖²).
  { unfold z. expand_dots. rewrite (dot_comm V g y). ring. }
  assert (E4 : dot (grad f y) g = dot (grad f x) g + ‖g‖²).
  { unfold g. expand_dots. rewrite (dot_comm V (grad f x) (grad f y)). ring. }
  rewrite E1 in H1. rewrite E2, E3, E4 in H2.
  assert (E5 : L / 2 * (/ L * / L * ‖g‖²) = / L * ‖g‖² / 2) by (field; lra).
  assert (E6 : ‖g‖² / (2 * L) = / L * ‖g‖² / 2) by (field; lra).
  rewrite E6. rewrite E5 in H2. lra.
Qed.

End Cocoercivity.

Section Gaps.
Context {V : space} (f : objective V) (L : R).
Implicit Types x y : V.

(** The distance of two gradients is at most L times that of the points. *)
Lemma lipschitz_gradient y x : 0 < L -> smooth L f -> 0 <= L ^ 2 * ‖y - x‖² - ‖grad f y - grad f x‖².
Proof.
  intros HL Hs.
  set (h := {| value := fun v => value f v + L / 2 * ‖v‖²; grad := fun v => plus (grad f v) (scale L v) |}).
  assert (E : forall b a, gap h b a = gap f b a + L / 2 * ‖b - a‖²).
  { intros b a. unfold gap, h; simpl. expand_dots. rewrite (dot_comm V b a). field. }
  assert (Hc : convex h) by (intros b a; rewrite E; pose proof (proj1 (Hs b a)); lra).
  assert (Hh : smooth (2 * L) h).
  { intros b a. rewrite E. pose proof (Hs b a). pose proof (dot_self V (minus b a)). split; nra. }
  pose proof (cocoercive h (2 * L) y x ltac:(lra) Hc Hh) as A.
  pose proof (cocoercive h (2 * L) x y ltac:(lra) Hc Hh) as B.
  set (g := minus (grad f y) (grad f x)). set (d := minus y x).
  assert (Eg : forall u v : V, ‖u - v‖² = ‖v - u‖²).
  { intros u v. expand_dots. rewrite (dot_comm V u v). ring. }
  rewrite (Eg (grad h x)) in B.
  assert (E1 : ‖grad h y - grad h x‖² = ‖g‖² + 2 * L * dot g d + L * L * ‖d‖²).
  { unfold h, g, d; simpl. expand_dots.
    rewrite (dot_comm V x y), !(dot_comm V y (grad f _)), !(dot_comm V x (grad f _)),
      (dot_comm V (grad f x) (grad f y)). ring. }
  assert (E2 : gap h y x + gap h x y = dot g d + L * ‖d‖²).
  { unfold gap, h, g, d; simpl. expand_dots.
    rewrite (dot_comm V x y), !(dot_comm V y (grad f _)), !(dot_comm V x (grad f _)). ring. }
  assert (E3 : (‖g‖² + 2 * L * dot g d + L * L * ‖d‖²) / (2 * (2 * L)) * (4 * L)
    = ‖g‖² + 2 * L * dot g d + L * L * ‖d‖²) by (field; lra).
  rewrite E1 in A, B. nra.
Qed.

End Gaps.

(** F, the client average of the objectives. *)
Definition mean_objective {V : space} (C : clients) (F_i : nat -> objective V) : objective V :=
  {| value := fun x => mean C (fun i => value (F_i i) x);
     grad := fun x => vmean C (fun i => grad (F_i i) x) |}.

Section Mean_objective.
Context {V : space} (C : clients) (F_i : nat -> objective V).

Lemma gap_of_mean y x : gap (mean_objective C F_i) y x = mean C (fun i => gap (F_i i) y x).
Proof.
  unfold gap; simpl. rewrite !mean_minus, dot_vmean. reflexivity.
Qed.

Lemma mean_convex : (forall i, (i < number C)%nat -> convex (F_i i)) -> convex (mean_objective C F_i).
Proof. intros H y x. rewrite gap_of_mean. apply mean_nonneg. intros; apply H; auto. Qed.

Lemma mean_strongly_convex mu :
  (forall i, (i < number C)%nat -> strongly_convex mu (F_i i)) -> strongly_convex mu (mean_objective C F_i).
Proof.
  intros H y x. rewrite gap_of_mean. rewrite <- (mean_const C (mu / 2 * _)), <- mean_minus.
  apply mean_nonneg. intros i Hi. apply (H i Hi).
Qed.

Lemma mean_smooth L : (forall i, (i < number C)%nat -> smooth L (F_i i)) -> smooth L (mean_objective C F_i).
Proof.
  intros H y x. rewrite gap_of_mean. set (bend := L / 2 * _). split.
  - rewrite <- (mean_const C (- bend)). apply mean_le. intros i Hi. apply (H i Hi).
  - rewrite <- (mean_const C bend). apply mean_le. intros i Hi. apply (H i Hi).
Qed.

End Mean_objective.
