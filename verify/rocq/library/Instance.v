(** The structures of this library exist: they are built from a finite probability space.

    Outcomes are 0, 1, ..., N - 1 with chances; a random vector has a value in R^d for each of them, and the inner
    product is the expected inner product.  Quadratic objectives are convex and smooth in the sense of this library. *)

From Coq Require Import Reals Lra Lia FunctionalExtensionality.
Require Import Space Clients Objectives.
Open Scope R_scope.

Record finite_space := {
  outcomes : nat;
  chance : nat -> R;
  dimension : nat;
  chance_nonneg : forall w, (w < outcomes)%nat -> 0 <= chance w }.

Section Vectors.
Context (Omega : finite_space).

Definition random_vector := nat -> nat -> R.
(** The inner product of two vectors of R^d, and its expectation for two random vectors. *)
Definition product_in_Rd (u v : nat -> R) : R := sum (dimension Omega) (fun j => u j * v j).
Definition expected (f : nat -> R) : R := sum (outcomes Omega) (fun w => chance Omega w * f w).
Definition expected_product (u v : random_vector) : R := expected (fun w => product_in_Rd (u w) (v w)).

Lemma expected_nonneg f : (forall w, (w < outcomes Omega)%nat -> 0 <= f w) -> 0 <= expected f.
Proof. intros H. apply sum_nonneg. intros w Hw. apply Rmult_le_pos; [apply chance_nonneg |]; auto. Qed.

Lemma expected_plus f g : expected (fun w => f w + g w) = expected f + expected g.
Proof. unfold expected. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.

Lemma expected_scale c f : expected (fun w => c * f w) = c * expected f.
Proof. unfold expected. rewrite <- sum_scale. apply sum_ext; intros; ring. Qed.

Lemma expected_ext f g : (forall w, f w = g w) -> expected f = expected g.
Proof. intros H. apply sum_ext; intros; rewrite H; reflexivity. Qed.

Ltac by_coordinates := intros; repeat (apply functional_extensionality; intros); ring.

Definition finite_vectors : space.
Proof.
  refine {|
    vector := random_vector;
    zero := fun _ _ => 0;
    plus := fun u v w j => u w j + v w j;
    scale := fun a u w j => a * u w j;
    dot := expected_product |}; try by_coordinates.
  - intros u v. apply expected_ext; intros. apply sum_ext; intros; ring.
  - intros u v x. unfold expected_product. rewrite <- expected_plus. apply expected_ext; intros.
    unfold product_in_Rd. rewrite <- sum_plus. apply sum_ext; intros; ring.
  - intros a u x. unfold expected_product. rewrite <- expected_scale. apply expected_ext; intros.
    unfold product_in_Rd. rewrite <- sum_scale. apply sum_ext; intros; ring.
  - intros u. apply expected_nonneg. intros. apply sum_nonneg. intros; nra.
Defined.

(** The quadratic objective x'Hx/2 - b'x of a symmetric matrix H. *)
Definition applied (H : nat -> nat -> R) (x : nat -> R) (j : nat) : R := sum (dimension Omega) (fun l => H j l * x l).

Definition quadratic_value (H : nat -> nat -> R) (b x : nat -> R) : R :=
  1 / 2 * product_in_Rd x (applied H x) - product_in_Rd b x.

Definition quadratic (H : nat -> nat -> R) (b : nat -> R) : objective finite_vectors :=
  Build_objective finite_vectors
    (fun x => expected (fun w => quadratic_value H b (x w)))
    (fun x w j => applied H (x w) j - b j).

(** H is symmetric, and its eigenvalues are between 0 and L. *)
Definition between (H : nat -> nat -> R) (L : R) : Prop :=
  (forall j l, H j l = H l j) /\
  forall x, 0 <= product_in_Rd x (applied H x) <= L * product_in_Rd x x.

Lemma applied_symmetric H (symmetric : forall j l, H j l = H l j) x y :
  product_in_Rd x (applied H y) = product_in_Rd y (applied H x).
Proof.
  unfold product_in_Rd, applied.
  rewrite (sum_ext _ _ (fun j => sum (dimension Omega) (fun l => x j * (H j l * y l)))) by (intros; rewrite sum_scale; auto).
  rewrite sum_swap. apply sum_ext; intros l Hl. rewrite <- sum_scale. apply sum_ext; intros j Hj.
  rewrite (symmetric j l). ring.
Qed.

Lemma product_plus x y z : product_in_Rd (fun j => x j + y j) z = product_in_Rd x z + product_in_Rd y z.
Proof. unfold product_in_Rd. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.

Lemma product_minus x y z : product_in_Rd (fun j => x j - y j) z = product_in_Rd x z - product_in_Rd y z.
Proof. unfold product_in_Rd. rewrite <- sum_minus. apply sum_ext; intros; ring. Qed.

Lemma product_comm x y : product_in_Rd x y = product_in_Rd y x.
Proof. apply sum_ext; intros; ring. Qed.

Lemma applied_plus H x y j : applied H (fun j => x j + y j) j = applied H x j + applied H y j.
Proof. unfold applied. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.

Lemma gap_in_Rd H b (symmetric : forall j l, H j l = H l j) x d :
  quadratic_value H b (fun j => x j + d j) - quadratic_value H b x
  - product_in_Rd (fun j => applied H x j - b j) d = 1 / 2 * product_in_Rd d (applied H d).
Proof.
  unfold quadratic_value.
  assert (E : applied H (fun j => x j + d j) = fun j => applied H x j + applied H d j).
  { apply functional_extensionality; intros j. apply applied_plus. }
  rewrite E, product_plus, !(product_comm _ (fun j => applied H x j + applied H d j)), !product_plus.
  rewrite product_minus, (product_comm b (fun j => x j + d j)), product_plus.
  rewrite !(product_comm (applied H _)), (product_comm b d), (product_comm b x).
  rewrite (applied_symmetric H symmetric d x). lra.
Qed.

(** The excess over the tangent is E d'Hd/2, where d is the difference of the points. *)
Lemma gap_of_quadratic H b (symmetric : forall j l, H j l = H l j) (y x : finite_vectors) :
  gap (quadratic H b) y x
  = expected (fun w => 1 / 2 * product_in_Rd (minus y x w) (applied H (minus y x w))).
Proof.
  set (d := minus y x).
  assert (E : y = fun w j => x w j + d w j).
  { repeat (apply functional_extensionality; intros). unfold d, minus; simpl; ring. }
  rewrite (expected_ext _ (fun w => quadratic_value H b (y w) + (-1 * quadratic_value H b (x w)
     + -1 * product_in_Rd (fun j => applied H (x w) j - b j) (d w)))).
  - rewrite !expected_plus, !expected_scale. unfold gap. fold d. simpl. unfold expected_product. ring.
  - intros w. rewrite <- (gap_in_Rd H b symmetric (x w) (d w)).
    replace (y w) with (fun j => x w j + d w j) by (rewrite E; reflexivity). ring.
Qed.

Theorem quadratic_convex H b L : between H L -> convex (quadratic H b).
Proof.
  intros [symmetric bounds] y x. rewrite (gap_of_quadratic _ _ symmetric).
  apply expected_nonneg. intros w _. pose proof (bounds (minus y x w)). lra.
Qed.

Theorem quadratic_smooth H b L : between H L -> smooth L (quadratic H b).
Proof.
  intros [symmetric bounds] y x. rewrite (gap_of_quadratic _ _ symmetric). set (d := minus y x).
  assert (E : L / 2 * dot d d = expected (fun w => L / 2 * product_in_Rd (d w) (d w))).
  { rewrite expected_scale. reflexivity. }
  assert (positive : 0 <= expected (fun w => 1 / 2 * product_in_Rd (d w) (applied H (d w)))).
  { apply expected_nonneg. intros w _. pose proof (bounds (d w)). lra. }
  assert (smaller : 0 <= expected (fun w => L / 2 * product_in_Rd (d w) (d w)
     + -1 * (1 / 2 * product_in_Rd (d w) (applied H (d w))))).
  { apply expected_nonneg. intros w _. pose proof (bounds (d w)). lra. }
  rewrite expected_plus, (expected_scale (-1)) in smaller. rewrite E. split; lra.
Qed.

End Vectors.
