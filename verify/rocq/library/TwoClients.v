(** A run of two clients with noise, from a finite probability space: four coins are tossed, one for each client and
    local step, so that there are sixteen outcomes.  It satisfies the hypotheses of the theorems, and its values are
    computed.

    F_1(x) = x^2/2 - x, F_2(x) = x^2, eta = 1/4, tau = 2, T = 1, start 3, noise of variance 1. *)

From Coq Require Import Reals Lra Lia Arith Bool FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Run Instance.
Open Scope R_scope.

Definition four_coins : finite_space.
Proof. refine {| outcomes := 16; chance := fun _ => 1 / 16; dimension := 1 |}. intros; lra. Defined.

Notation V := (finite_vectors four_coins).

Definition two : clients.
Proof.
  refine {| number := 2; share := fun _ => 1 / 2 |}; [lia | intros; lra | simpl; lra].
Defined.

Definition curvature (i : nat) : R := match i with O => 1 | _ => 2 end.
Definition slope (i : nat) : R := match i with O => 1 | _ => 0 end.
Definition F_of_client (i : nat) : objective V := quadratic four_coins (fun _ _ => curvature i) (fun _ => slope i).

(** Heads is 1 and tails is -1; later steps have no coins. *)
Definition coin (w m : nat) : R := if Nat.testbit w m then 1 else -1.
Definition noise (n k i : nat) : V := fun w _ =>
  match n, k, i with
  | O, O, O => coin w 0
  | O, O, S O => coin w 1
  | O, S O, O => coin w 2
  | O, S O, S O => coin w 3
  | _, _, _ => 0
  end.

Definition two_clients_run : run.
Proof.
  refine {| space_of := V; clients_of := two; objective_of := F_of_client; size_of := 1 / 4; steps_of := 2;
    rounds_of := 1; start := fun _ _ => 3; noise_of := noise |}; lia.
Defined.

(** The past of a step: vectors that depend on the coins of earlier steps only. *)
Definition known (n k : nat) (v : V) : Prop :=
  match n, k with
  | O, O => forall w j, v w j = v O j
  | O, S O => forall w j, v w j = v (w mod 4)%nat j
  | _, _ => True
  end.

Lemma coin_of_first_step w m : (m < 2)%nat -> coin w m = coin (w mod 4) m.
Proof.
  intros H. unfold coin. change 4%nat with (2 ^ 2)%nat. rewrite Nat.mod_pow2_bits_low by lia. reflexivity.
Qed.

Ltac cases_of_steps n k := destruct n as [| n]; [destruct k as [| [| k]] |].

Lemma known_iterates n k i : known n k (local two_clients_run (server two_clients_run n) n k i).
Proof.
  cases_of_steps n k; cbn -[Nat.modulo coin]; auto. intros w j.
  destruct i as [| [| i]]; cbn -[Nat.modulo coin]; rewrite <- ?coin_of_first_step by lia; reflexivity.
Qed.

Lemma expected_of_all (u v : V) :
  dot u v = sum 16 (fun w => 1 / 16 * (0 + u w O * v w O)).
Proof. reflexivity. Qed.

Lemma no_coin n k i v : (forall w j, noise n k i w j = 0) -> ⟨noise n k i, v⟩ = 0.
Proof.
  intros H. rewrite expected_of_all, (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros w _. rewrite H. ring.
Qed.

Lemma fresh n k i v : (i < 2)%nat -> known n k v -> ⟨noise n k i, v⟩ = 0.
Proof.
  intros Hi K. cases_of_steps n k; try (apply no_coin; intros; destruct i as [| [| i]]; reflexivity);
    rewrite expected_of_all; cbn [sum].
  - rewrite (K 1%nat), (K 2%nat), (K 3%nat), (K 4%nat), (K 5%nat), (K 6%nat), (K 7%nat), (K 8%nat), (K 9%nat),
      (K 10%nat), (K 11%nat), (K 12%nat), (K 13%nat), (K 14%nat), (K 15%nat).
    destruct i as [| [| i]]; [| | lia]; cbn; field.
  - rewrite (K 4%nat), (K 5%nat), (K 6%nat), (K 7%nat), (K 8%nat), (K 9%nat),
      (K 10%nat), (K 11%nat), (K 12%nat), (K 13%nat), (K 14%nat), (K 15%nat).
    destruct i as [| [| i]]; [| | lia]; cbn; field.
Qed.

Lemma independent n k : ⟨noise n k 0, noise n k 1⟩ = 0.
Proof.
  cases_of_steps n k; try (apply no_coin; reflexivity); rewrite expected_of_all; cbn; field.
Qed.

Theorem two_clients_unbiased : unbiased_run two_clients_run known.
Proof.
  constructor.
  - intros n k. constructor.
    + intros u v Hu Hv. cases_of_steps n k; simpl in *; auto; intros w j; rewrite (Hu w), (Hv w); reflexivity.
    + intros a u Hu. cases_of_steps n k; simpl in *; auto; intros w j; rewrite (Hu w); reflexivity.
    + intros i u Hu. cases_of_steps n k; simpl in *; auto; intros w j; unfold applied; simpl;
        rewrite (Hu w); reflexivity.
    + intros i. apply known_iterates.
    + cases_of_steps n k; simpl; auto.
    + intros i v Hi Hv. apply fresh; assumption.
    + intros i j Hi Hj apart. simpl in Hi, Hj.
      destruct i as [| [| i]], j as [| [| j]]; try lia.
      * exact (independent n k).
      * exact (eq_trans (dot_comm V _ _) (independent n k)).
  - intros n k v H. cases_of_steps n k; simpl in *; auto. intros w j. rewrite (H w), (H (w mod 4)%nat). reflexivity.
  - intros n v _. exact I.
Qed.

Lemma two_uniform : uniform (clients_of two_clients_run).
Proof. intros i _. simpl. lra. Qed.

Lemma two_clients_bounds i : between four_coins (fun _ _ => curvature i) 2.
Proof.
  split; [reflexivity |]. intros x. unfold product_in_Rd, applied. simpl.
  destruct i as [| i]; simpl; split; nra.
Qed.

Lemma two_clients_convex : always two_clients_run convex_clients.
Proof. intros n k i _. apply (quadratic_convex four_coins) with (1 := two_clients_bounds i). Qed.

Lemma two_clients_smooth : always two_clients_run (fun S => smooth_clients S 2).
Proof. intros n k i _. apply (quadratic_smooth four_coins) with (1 := two_clients_bounds i). Qed.

Lemma two_clients_variance : always two_clients_run (fun S => bounded_variance S 1).
Proof.
  intros n k i Hi. simpl in Hi. change (dot (noise n k i : V) (noise n k i) <= 1 ^ 2). rewrite expected_of_all.
  cases_of_steps n k; destruct i as [| [| i]]; try lia; cbn; lra.
Qed.

(** The minimiser of F(x) = 3 x^2/4 - x/2. *)
Definition best : V := fun _ _ => 1 / 3.

Ltac computed :=
  cbv beta iota zeta delta
    [final_distance_sq server_distance_sq final_suboptimality average_suboptimality round_suboptimality average_at
     average average_round_drift round_drift drift
     step_at local_iterate step_clients step_space F_of mean_objective value grad F_of_client quadratic
     quadratic_value curvature slope
     server local two_clients_run space_of clients_of objective_of size_of steps_of rounds_of start noise_of noise coin
     vmean vsum mean sum two number share tau T INR
     finite_vectors vector zero plus scale dot minus expected_product expected product_in_Rd applied
     four_coins outcomes chance dimension best Nat.testbit Nat.odd Nat.even Nat.div2 negb].

(** The values that `fedtheory simulate --arithmetic rational` computes for this run. *)
Theorem two_clients :
  final_distance_sq two_clients_run best = 11641 / 9216 /\
  final_suboptimality two_clients_run best = 11641 / 12288 /\
  average_suboptimality two_clients_run best = 37529 / 24576 /\
  average_round_drift two_clients_run = 9 / 64.
Proof. repeat split; computed; field. Qed.
