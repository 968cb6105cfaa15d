(** A run with client sampling and noise: two clients whose gradients differ by constants.  In the first round a coin
    selects one of them, and two more coins give the noise of the first step; later rounds average both models.

    The coins are those of [TwoClients]: 0 and 1 for the noise, 2 for the selection. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Instance TwoClients CoinRuns AlikeInstance.
Require Run.
Require Import Sampled.
Open Scope R_scope.

Definition first_noise (n k i : nat) : V := match n, k with O, O => noise 0 0 i | _, _ => zero end.
Definition is_first (w : nat) : bool := Nat.testbit w 2.
Definition counts (w i : nat) : R := match i with O => if is_first w then 1 else 0 | _ => if is_first w then 0 else 1 end.
Definition weight_in (n w i : nat) : R := match n with O => counts w i | _ => 1 / 2 end.

Definition noisy_draws_run : sampled_run.
Proof.
  refine {|
    of_clients := {|
      Run.space_of := V; Run.clients_of := two; Run.objective_of := alike_client; Run.size_of := 1 / 100;
      Run.steps_of := 2; Run.rounds_of := 2; Run.start := fun _ _ => 1; Run.noise_of := first_noise |};
    weighed := fun n i (v : V) => (fun w j => weight_in n w i * v w j) : V |}; lia.
Defined.

(** The past of each step: at first no random vector, then the noise of the first step, in later rounds all vectors. *)
Definition known_here (n k : nat) (v : V) : Prop :=
  match n, k with
  | O, O => forall w j, v w j = v O j
  | O, S _ => forall w j, v w j = v (w mod 4)%nat j
  | _, _ => True
  end.

Ltac cases_here n k := destruct n as [| n]; [destruct k as [| k] |].

Lemma known_here_plus n k (u v : V) : known_here n k u -> known_here n k v -> known_here n k (u + v)%vec.
Proof. intros Hu Hv. cases_here n k; simpl in *; auto; intros w j; rewrite (Hu w), (Hv w); reflexivity. Qed.

Lemma known_here_scale n k a (u : V) : known_here n k u -> known_here n k (a • u)%vec.
Proof. intros Hu. cases_here n k; simpl in *; auto; intros w j; rewrite (Hu w); reflexivity. Qed.

Lemma known_here_gradient n k i (u : V) : known_here n k u -> known_here n k (grad (alike_client i) u).
Proof. intros Hu. cases_here n k; simpl in *; auto; intros w j; apply alike_by_model; intros l; apply Hu. Qed.

Lemma known_here_grows n k (v : V) : known_here n k v -> known_here n (S k) v.
Proof. intros H. cases_here n k; simpl in *; auto. intros w j. rewrite (H w), (H (w mod 4)%nat). reflexivity. Qed.

Lemma first_noise_is_known n k i : known_here n (S k) (first_noise n k i).
Proof.
  cases_here n k; cbn -[Nat.modulo coin]; auto. intros w j.
  destruct i as [| [| i]]; cbn -[Nat.modulo coin]; rewrite <- ?coin_of_first_step by lia; reflexivity.
Qed.

Lemma known_here_local n k i : known_here n k (Run.local noisy_draws_run (server noisy_draws_run n) n k i).
Proof.
  induction k as [| k IH].
  - destruct n; cbn -[Nat.modulo]; auto.
  - cbn [Run.local]. apply known_here_plus; [apply known_here_grows, IH |].
    apply known_here_scale, known_here_scale, known_here_plus.
    + apply known_here_gradient, known_here_grows, IH.
    + apply first_noise_is_known.
Qed.

Theorem noisy_drawn_unbiased : unbiased_run noisy_draws_run known_here.
Proof.
  constructor; [| exact known_here_grows | intros; exact I]. intros n k. constructor.
  - apply known_here_plus.
  - apply known_here_scale.
  - intros i u. apply known_here_gradient.
  - intros i. apply known_here_local.
  - pose proof (known_here_local n k O) as H. destruct n; [| exact I]. destruct k; [exact H |]. intros w j. reflexivity.
  - intros i v Hi Hv. cases_here n k; [apply (fresh 0 0); assumption | apply dot_zero | apply dot_zero].
  - intros i j Hi Hj apart. cases_here n k; try apply dot_zero. cbn in Hi, Hj.
    pose proof (independent 0 0) as one_way. change (⟨(noise 0 0 i : V), noise 0 0 j⟩ = 0).
    destruct i as [| [| i]], j as [| [| j]]; try lia; [exact one_way | rewrite dot_comm; exact one_way].
Qed.

(** The weights of one of two clients have variance 1 and are independent of the noise. *)
Lemma mean_of_draw i (u v : V) : (i < 2)%nat -> known_here 0 2 u -> known_here 0 2 v ->
  ⟨weighed noisy_draws_run 0 i u, v⟩ = 1 / 2 * ⟨u, v⟩.
Proof.
  intros Hi Hu Hv. rewrite !expected_of_all. cbn [sum weighed noisy_draws_run weight_in counts is_first].
  rewrite (Hu 4%nat), (Hu 5%nat), (Hu 6%nat), (Hu 7%nat), (Hu 8%nat), (Hu 9%nat), (Hu 10%nat), (Hu 11%nat), (Hu 12%nat),
    (Hu 13%nat), (Hu 14%nat), (Hu 15%nat), (Hv 4%nat), (Hv 5%nat), (Hv 6%nat), (Hv 7%nat), (Hv 8%nat), (Hv 9%nat),
    (Hv 10%nat), (Hv 11%nat), (Hv 12%nat), (Hv 13%nat), (Hv 14%nat), (Hv 15%nat).
  destruct i as [| [| i]]; [| | lia]; cbn; field.
Qed.

Theorem noisy_drawn_participants : averaged_participants noisy_draws_run known_here 1.
Proof.
  constructor.
  - intros n i u v. apply functional_extensionality. intros w. apply functional_extensionality. intros j. cbn. ring.
  - intros n i a u. apply functional_extensionality. intros w. apply functional_extensionality. intros j. cbn. ring.
  - intros n v. apply functional_extensionality. intros w. apply functional_extensionality. intros j.
    cbn -[is_first]. destruct n; cbn -[is_first]; [destruct (is_first w); ring | field].
  - intros n i u v Hi Hu Hv. cbn in Hi. destruct n as [| n].
    + apply mean_of_draw; assumption.
    + exact (dot_scale V (1 / 2) u v).
  - intros n f Hf H.
    assert (opposite : forall w j, f 1%nat w j = - f O w j).
    { intros w j. assert (E : vmean two f w j = 0) by (change (Run.clients_of noisy_draws_run) with two in H; rewrite H; reflexivity).
      cbn in E. lra. }
    change (⟨vsum 2 (fun i => weighed noisy_draws_run n i (f i)), vsum 2 (fun i => weighed noisy_draws_run n i (f i))⟩
      <= 1 * mean two (fun i => ⟨(f i : V), f i⟩)).
    assert (E : mean two (fun i => ⟨(f i : V), f i⟩) = sum 16 (fun w => 1 / 16 * (f O w O ^ 2 / 2 + f 1%nat w O ^ 2 / 2))).
    { unfold mean. cbn [number share sum two]. rewrite !expected_of_all. cbn [sum]. field. }
    rewrite E, Rmult_1_l, expected_of_all. apply sum_le. intros w _. cbn -[is_first]. rewrite (opposite w O).
    destruct n; cbn -[is_first]; [destruct (is_first w) |]; nra.
Qed.
