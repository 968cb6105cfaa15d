(** A server of which one client works on an old model: the structures of updates exist.

    F_1(x) = x^2/2 - x, F_2(x) = x^2/2, both local and server step sizes fixed, weights of 1/2 that are given; the
    second client starts from the model before the last. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Instance Stale Weights.
Open Scope R_scope.

Definition one_outcome : finite_space.
Proof. refine {| outcomes := 1; chance := fun _ => 1; dimension := 1 |}. intros; lra. Defined.

Notation V := (finite_vectors one_outcome).

Definition halves : clients.
Proof. refine {| number := 2; share := fun _ => 1 / 2 |}; [lia | intros; lra | simpl; lra]. Defined.

Definition slope_of (i : nat) : R := match i with O => 1 | _ => 0 end.
Definition objective_at (i : nat) : objective V := quadratic one_outcome (fun _ _ => 1) (fun _ => slope_of i).
Definition received (n i : nat) : nat := match i with O => n | _ => pred n end.

(** The model of the server, and the one before it. *)
Fixpoint models (n : nat) : R * R :=
  match n with
  | O => (3, 3)
  | S n => let (x, old) := models n in (x - (x - 1 + old) / 4, x)
  end.
Definition model_at (n : nat) : V := fun _ _ => fst (models n).

Definition stale_server : server.
Proof.
  refine {| space_of := V; clients_of := halves; objective_of := objective_at; type_of := fun i => i; updates := 2;
    steps := 1; local_size := 1 / 2; server_size := 1; received_at := received; noise_of := fun _ _ _ => zero;
    weighed := fun _ _ => @scale V (1 / 2); expected_weight := fun _ _ => 1 / 2; model := model_at |};
    try lia; try lra; intros; auto; try lra.
  - destruct i; simpl; lia.
  - simpl. repeat (apply functional_extensionality; intros). ring.
  - simpl. repeat (apply functional_extensionality; intros). ring.
Defined.

Lemma model_before n : fst (models (pred n)) = snd (models n).
Proof. destruct n; simpl; [reflexivity | destruct (models n); reflexivity]. Qed.

Theorem stale_scheme : aggregation_scheme stale_server.
Proof.
  intros n. repeat (apply functional_extensionality; intros). pose proof (model_before n) as before.
  cbn. unfold model_at, applied. cbn. rewrite before. destruct (models n). cbn. field.
Qed.

(** Its weights fulfil Assumption 5, with alpha = 1. *)
Theorem stale_weights : covariance stale_server 1 (fun _ _ => 1 / 2).
Proof.
  constructor; try lra.
  - intros n k i j _ _ _. cbn [weighed expected_weight stale_server].
    rewrite dot_scale, dot_comm, dot_scale, dot_comm. cbn [space_of stale_server]. ring.
  - intros n k i _. cbn [weighed expected_weight stale_server].
    rewrite dot_scale, dot_comm, dot_scale. cbn [space_of stale_server]. ring.
  - intros n i _. simpl. lra.
Qed.

Theorem stale_given : given_weights stale_server (fun _ _ => 1 / 2).
Proof. intros n i. split; [reflexivity | simpl; ring]. Qed.

(** The minimiser of x^2/2 - x/2, and that one client is late. *)
Theorem stale_minimiser : minimiser stale_server (federated stale_server) (fun _ _ => 1 / 2).
Proof.
  split.
  - cbn. unfold expected_product, expected, product_in_Rd, applied. cbn. field.
  - intros y. cbn. unfold expected, quadratic_value, product_in_Rd, applied. cbn.
    pose proof (pow2_ge_0 (y O O - 1 / 2)). lra.
Qed.

Theorem stale_is_late : staleness stale_server = 1%nat.
Proof. reflexivity. Qed.
