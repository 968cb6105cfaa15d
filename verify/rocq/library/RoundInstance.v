(** A round with client sampling exists: one of two clients with noise takes part, and the second client takes two
    steps of half the size of the first one's.

    F_1(x) = x^2/2 - x, F_2(x) = x^2, mu = 1/4, E_1 = 1, E_2 = 2, start 3, noise of variance 1 by the coins of
    [TwoClients]. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Own Round Instance TwoClients.
Open Scope R_scope.

Definition three : V := fun _ _ => 3.

Definition drawn_round : round.
Proof.
  refine {|
    begun := {| step_space := V; step_clients := two; client_objective := F_of_client; local_iterate := fun _ => three;
      gradient_noise := noise 0 0; step_size := 1 / 4; server_model := three |};
    steps_of_client := S;
    size_of_client := fun i => 1 / 4 / INR (S i);
    noise_of := noise 0;
    noise_at_start := noise 0 |}; lia.
Defined.

(** Vectors that do not depend on the coins, and the expectation over the coins. *)
Definition certain (v : V) : Prop := forall w j, v w j = v O j.
Definition over_coins (v : V) : V := fun _ j => sum 16 (fun w => 1 / 16 * v w j).

Lemma noise_is_fresh e i v : certain v -> ⟨noise 0 e i, v⟩ = 0.
Proof.
  intros K. rewrite expected_of_all, (sum_ext _ _ (fun w => v O O / 16 * noise 0 e i w O)) by (intros; rewrite K; field).
  rewrite sum_scale. destruct e as [| [| e]], i as [| [| i]]; cbn; ring.
Qed.

Lemma noise_of_others e f i j : (i < 2)%nat -> (j < 2)%nat -> i <> j \/ e <> f -> ⟨noise 0 e i, noise 0 f j⟩ = 0.
Proof.
  intros Hi Hj apart. rewrite expected_of_all.
  destruct i as [| [| i]], j as [| [| j]], e as [| [| e]], f as [| [| f]]; try lia; cbn; field.
Qed.

Theorem round_unbiased : unbiased_round drawn_round certain.
Proof.
  constructor.
  - constructor.
    + intros u v Hu Hv w j. cbn. rewrite (Hu w j), (Hv w j). reflexivity.
    + intros a u Hu w j. cbn. rewrite (Hu w j). reflexivity.
    + intros i u Hu w j. cbn. unfold applied. cbn. rewrite (Hu w O). reflexivity.
    + intros i w j. reflexivity.
    + intros w j. reflexivity.
    + intros i v _ Hv. exact (noise_is_fresh 0 i v Hv).
    + intros i j Hi Hj apart. apply (noise_of_others 0 0); auto.
  - intros e i v _. apply (noise_is_fresh e i v).
  - intros e f i j Hi Hj apart. apply (noise_of_others e f); auto.
  - intros e f i Hi apart. apply (noise_of_others e f); auto.
Qed.

Theorem round_given : @conditional_mean drawn_round certain over_coins.
Proof.
  constructor.
  - intros v w j. reflexivity.
  - intros v u Hu. rewrite expected_of_all, (sum_ext _ _ (fun w => u O O / 16 * (v w O - over_coins v O O))).
    + rewrite sum_scale. unfold over_coins. cbn. field.
    + intros w _. cbn [minus plus scale drawn_round begun step_space finite_vectors]. rewrite (Hu w O). unfold over_coins. cbn. field.
Qed.

(** The draw of one of two clients with equal probability. *)
Definition one_of_two : draws two.
Proof. refine {| Round.outcomes := two; is_drawn := Nat.eqb; participants_of := 1 |}. lia. Defined.

Theorem round_draws : uniform_draws one_of_two.
Proof.
  constructor; unfold participates, participants, mean; cbn.
  - intros [| [| s]]; cbn; lia || (intros; lra).
  - intros [| [| i]]; cbn; lia || (intros; lra).
  - intros [| [| i]] [| [| j]]; cbn; lia || (intros; lra).
Qed.

Theorem round_normalised : normalised_steps drawn_round.
Proof. intros i. reflexivity. Qed.

Theorem round_variance w : variance_at_start drawn_round w (fun _ => 0) (fun _ => 1).
Proof.
  intros e i Hi. cbn in Hi. change (dot (noise 0 e i : V) (noise 0 e i) <= 0 ^ 2 * ‖w i - three‖² + 1 ^ 2).
  rewrite expected_of_all. destruct e as [| [| e]], i as [| [| i]]; try lia; cbn; lra.
Qed.

Theorem round_smooth : mean_square_smooth_steps drawn_round (fun _ => 2).
Proof.
  intros e i Hi. cbn in Hi. set (x := iterate drawn_round e i).
  set (change := (sample drawn_round e i - sample_at_start drawn_round e i)%vec).
  change (‖change‖² <= 2 ^ 2 * ‖x - three‖²).
  assert (E : forall w, change w O = curvature i * (x - three)%vec w O).
  { intros w. unfold change, sample, sample_at_start. fold x. cbn. unfold applied, three. cbn. ring. }
  rewrite expected_of_all, (sum_ext _ _ (fun w => curvature i ^ 2 * (1 / 16 * (0 + (x - three)%vec w O * (x - three)%vec w O))))
    by (intros; rewrite E; ring).
  rewrite sum_scale, <- expected_of_all. apply Rmult_le_compat_r; [apply dot_self |].
  destruct i as [| [| i]]; cbn [curvature]; lia || lra.
Qed.

(** The results of two clients are independent, because they depend on different coins. *)
Theorem round_independent : independent_results drawn_round over_coins.
Proof.
  intros i j Hi Hj apart. cbn in Hi, Hj. rewrite expected_of_all. unfold over_coins.
  destruct i as [| [| i]], j as [| [| j]]; try lia; cbn; unfold applied, three; cbn; field.
Qed.

(** The values that `fedtheory simulate --arithmetic rational` computes for this run. *)
Theorem round_distance : mean two (fun s => ‖next_server_model drawn_round one_of_two s - best‖²) = 60965 / 18432.
Proof.
  unfold mean. cbn [sum number share two].
  rewrite !expected_of_all. cbn. unfold applied, three, best. cbn. field.
Qed.
