(** Random vectors: a real vector space with an inner product.

    Think of L2(Omega; R^d): a member is a random vector, and [dot u v] is the
    expected inner product E<u, v>.  A vector of length zero need not be the
    zero vector: random vectors may differ on a set of measure zero. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

Record space := {
  vector :> Type;
  zero : vector;
  plus : vector -> vector -> vector;
  scale : R -> vector -> vector;
  dot : vector -> vector -> R;
  plus_comm : forall u v, plus u v = plus v u;
  plus_assoc : forall u v w, plus u (plus v w) = plus (plus u v) w;
  plus_zero : forall u, plus u zero = u;
  scale_one : forall u, scale 1 u = u;
  scale_zero : forall u, scale 0 u = zero;
  scale_scale : forall a b u, scale a (scale b u) = scale (a * b) u;
  scale_plus : forall a u v, scale a (plus u v) = plus (scale a u) (scale a v);
  plus_scale : forall a b u, scale (a + b) u = plus (scale a u) (scale b u);
  dot_comm : forall u v, dot u v = dot v u;
  dot_plus : forall u v w, dot (plus u v) w = dot u w + dot v w;
  dot_scale : forall a u w, dot (scale a u) w = a * dot u w;
  dot_self : forall u, 0 <= dot u u }.

Arguments zero {s}.
Arguments plus {s}.
Arguments scale {s}.
Arguments dot {s}.

Definition minus {V : space} (u v : V) : V := plus u (scale (-1) v).

Declare Scope vector_scope.
Delimit Scope vector_scope with vec.
Notation "u + v" := (plus u v) : vector_scope.
Notation "u - v" := (minus u v) : vector_scope.
Notation "a • u" := (scale a u) (at level 39, right associativity).
Notation "⟨ u , v ⟩" := (dot u%vec v%vec) (at level 0, u at level 60, v at level 60, format "⟨ u ,  v ⟩").
Notation "‖ v ‖²" := (dot v%vec v%vec) (at level 0, v at level 60, format "‖ v ‖²").
Bind Scope vector_scope with vector.

Section Facts.
Context {V : space}.
Implicit Types u v w : V.

Lemma dot_zero w : dot zero w = 0.
Proof. rewrite <- (scale_zero V w), dot_scale; ring. Qed.

Lemma dot_minus u v w : dot (minus u v) w = dot u w - dot v w.
Proof. unfold minus. rewrite dot_plus, dot_scale. ring. Qed.

Lemma minus_self u : minus u u = zero.
Proof.
  unfold minus. rewrite <- (scale_one V u) at 1. rewrite <- plus_scale.
  replace (1 + -1) with 0 by ring. apply scale_zero.
Qed.

Lemma square_nonneg v : 0 <= ‖v‖².
Proof. apply dot_self. Qed.

(** The Cauchy-Schwarz inequality. *)
Lemma cauchy_schwarz u v : dot u v * dot u v <= ‖u‖² * ‖v‖².
Proof.
  assert (expanded : forall a b, 0 <= a * a * ‖u‖² + 2 * (a * b) * dot u v + b * b * ‖v‖²).
  { intros a b. pose proof (dot_self V (plus (scale a u) (scale b v))) as H.
    rewrite dot_plus, (dot_comm V (scale a u)), (dot_comm V (scale b v)) in H.
    rewrite !dot_plus, !dot_scale, !(dot_comm V _ (scale _ _)), !dot_scale in H.
    rewrite (dot_comm V v u) in H. lra. }
  pose proof (dot_self V u) as Hu. pose proof (dot_self V v) as Hv.
  destruct (Rle_lt_or_eq_dec _ _ Hv) as [positive | vanishes].
  - pose proof (expanded ‖v‖² (- dot u v)) as H.
    apply Rmult_le_reg_l with (1 := positive). nra.
  - rewrite <- vanishes in *.
    pose proof (expanded (- dot u v) (‖u‖² / 2 + 1)) as H.
    nra.
Qed.

Definition length v := sqrt ‖v‖².

Lemma length_nonneg v : 0 <= length v.
Proof. apply sqrt_pos. Qed.

Lemma length_square v : length v * length v = ‖v‖².
Proof. apply sqrt_sqrt, dot_self. Qed.

Lemma dot_le_lengths u v : dot u v <= length u * length v.
Proof.
  pose proof (cauchy_schwarz u v). pose proof (length_nonneg u). pose proof (length_nonneg v).
  rewrite <- !length_square in *.
  destruct (Rle_lt_dec (dot u v) 0); [nra |].
  apply Rsqr_incr_0; unfold Rsqr; nra.
Qed.

Lemma triangle u v : length (plus u v) <= length u + length v.
Proof.
  pose proof (length_nonneg u). pose proof (length_nonneg v). pose proof (length_nonneg (plus u v)).
  apply Rsqr_incr_0; unfold Rsqr; try lra.
  rewrite length_square, dot_plus, (dot_comm V u), (dot_comm V v), !dot_plus.
  pose proof (dot_le_lengths u v). rewrite (dot_comm V v u), <- !length_square. lra.
Qed.

End Facts.
