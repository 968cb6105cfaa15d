(** A run with client sampling exists: a coin selects one of two clients with the objective x^2/2 in each round. *)

From Coq Require Import Reals Lra Lia FunctionalExtensionality.
Require Import Space Clients Objectives Step Instance.
Require Run.
Require Import Sampled.
Open Scope R_scope.

Definition coin : finite_space.
Proof. refine {| outcomes := 2; chance := fun _ => 1 / 2; dimension := 1 |}. intros. lra. Defined.

Definition two : clients.
Proof. refine {| number := 2; share := fun _ => 1 / 2 |}; [lia | intros; lra | simpl; lra]. Defined.

Definition one_by_a_coin : sampled_run.
Proof.
  refine {|
    of_clients := {|
      Run.space_of := finite_vectors coin;
      Run.clients_of := two;
      Run.objective_of := fun _ => quadratic coin (fun _ _ => 1) (fun _ => 0);
      Run.size_of := 1 / 2;
      Run.steps_of := 2;
      Run.rounds_of := 3;
      Run.start := fun _ _ => 1;
      Run.noise_of := fun _ _ _ => zero |};
    weighed := fun _ i v w j => if Nat.eqb (Nat.min w 1) i then v w j else 0 |}; lia.
Defined.

(** Vectors that do not depend on the coin.  All models are among them, since both clients take the same steps. *)
Definition certain (v : finite_vectors coin) : Prop := forall w j, v w j = v O j.

Lemma certain_minus u v : certain u -> certain v -> certain (u - v)%vec.
Proof. intros Hu Hv w j. cbn. rewrite (Hu w j), (Hv w j). reflexivity. Qed.

Lemma certain_scale a u : certain u -> certain (a • u)%vec.
Proof. intros Hu w j. cbn. rewrite (Hu w j). reflexivity. Qed.

Lemma certain_gradient i u : certain u -> certain (grad (Run.objective_of one_by_a_coin i) u).
Proof. intros Hu w j. cbn. rewrite (Hu w O). reflexivity. Qed.

Lemma certain_local y n k i : certain y -> certain (Run.local one_by_a_coin y n k i).
Proof.
  intros Hy. induction k as [| k IH]; [exact Hy |]. cbn [Run.local]. apply certain_minus; [exact IH |].
  apply certain_scale. change (certain (plus (grad (Run.objective_of one_by_a_coin i) (Run.local one_by_a_coin y n k i)) zero)).
  rewrite plus_zero. apply certain_gradient, IH.
Qed.

Lemma same_local y n k i : Run.local one_by_a_coin y n k i = Run.local one_by_a_coin y n k O.
Proof. induction k as [| k IH]; [reflexivity |]. cbn [Run.local]. rewrite IH. reflexivity. Qed.

Lemma add_up v : vsum 2 (fun i => weighed one_by_a_coin O i v) = v.
Proof.
  apply functional_extensionality. intros w. apply functional_extensionality. intros j. cbn.
  destruct w; cbn; [ring |]. rewrite Nat.min_0_r. cbn. ring.
Qed.

Lemma certain_server n : certain (server one_by_a_coin n).
Proof.
  induction n as [| n IH]; [intros w j; reflexivity |]. cbn [server].
  rewrite (vsum_ext _ _ (fun i => weighed one_by_a_coin O i (Run.local one_by_a_coin (server one_by_a_coin n) n 2 O))).
  - change (certain (vsum 2 (fun i => weighed one_by_a_coin O i (Run.local one_by_a_coin (server one_by_a_coin n) n 2 O)))).
    rewrite add_up. apply certain_local, IH.
  - intros i _. change (Run.steps_of one_by_a_coin) with 2%nat. rewrite same_local. reflexivity.
Qed.

Theorem drawn_unbiased : unbiased_run one_by_a_coin (fun _ _ => certain).
Proof.
  constructor; auto. intros n k. constructor.
  - intros u v Hu Hv w j. cbn. rewrite (Hu w j), (Hv w j). reflexivity.
  - exact certain_scale.
  - intros i u. apply certain_gradient.
  - intros i. apply certain_local, certain_server.
  - apply certain_server.
  - intros i v _ _. apply dot_zero.
  - intros i j _ _ _. apply dot_zero.
Qed.

(** One of two clients takes part: the variance of the weights is 1. *)
Theorem drawn_participants : averaged_participants one_by_a_coin (fun _ _ => certain) 1.
Proof.
  constructor.
  - intros n i u v. apply functional_extensionality. intros w. apply functional_extensionality. intros j. cbn.
    destruct Nat.eqb; ring.
  - intros n i a u. apply functional_extensionality. intros w. apply functional_extensionality. intros j. cbn.
    destruct Nat.eqb; ring.
  - intros n v. exact (add_up v).
  - intros n i u v Hi Hu Hv. cbn in Hi |- *. unfold expected_product, expected, product_in_Rd. cbn.
    rewrite (Hu 1%nat O), (Hv 1%nat O). destruct i as [| [|]]; cbn; [lra | lra | lia].
  - intros n f Hf H.
    assert (opposite : f 1%nat O O = - f O O O).
    { assert (E : vmean two f O O = 0) by (change (Run.clients_of one_by_a_coin) with two in H; rewrite H; reflexivity).
      cbn in E. lra. }
    pose proof (Hf O 1%nat O) as of_0. pose proof (Hf 1%nat 1%nat O) as of_1. cbn in of_0, of_1.
    unfold mean. cbn. unfold expected_product, expected, product_in_Rd. cbn. rewrite of_0, of_1, opposite. lra.
Qed.
