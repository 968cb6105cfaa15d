(** Runs of two clients with the noise of [TwoClients].  Their noise is unbiased given the past in each step, for all
    objectives whose gradients depend on the coins only through the model. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Run Instance TwoClients.
Open Scope R_scope.

Section Runs.
Context (objective_at : nat -> objective V) (size : R) (steps rounds : nat) (begin : R).
Context (some_step : (0 < steps)%nat) (some_round : (0 < rounds)%nat).
Context (by_model : forall i (x : V) w u j, (forall l, x w l = x u l) ->
  grad (objective_at i) x w j = grad (objective_at i) x u j).

Definition coin_run : run :=
  {| space_of := V; clients_of := two; objective_of := objective_at; size_of := size; steps_of := steps;
     rounds_of := rounds; start := fun _ _ => begin; noise_of := noise; some_steps := some_step;
     some_rounds := some_round |}.

Lemma known_gradient n k i (x : V) : known n k x -> known n k (grad (objective_at i) x).
Proof. intros H. cases_of_steps n k; simpl in *; auto; intros w j; apply by_model; intros l; apply H. Qed.

Lemma known_local n k i : known n k (local coin_run (server coin_run n) n k i).
Proof.
  cases_of_steps n k; cbn -[Nat.modulo coin]; auto. intros w j.
  rewrite (by_model i (fun _ _ => begin) w (w mod 4)%nat j) by reflexivity.
  destruct i as [| [| i]]; cbn -[Nat.modulo coin]; rewrite <- ?coin_of_first_step by lia; reflexivity.
Qed.

Theorem coin_run_unbiased : unbiased_run coin_run known.
Proof.
  constructor.
  - intros n k. constructor.
    + intros u v Hu Hv. cases_of_steps n k; simpl in *; auto; intros w j; rewrite (Hu w), (Hv w); reflexivity.
    + intros a u Hu. cases_of_steps n k; simpl in *; auto; intros w j; rewrite (Hu w); reflexivity.
    + intros i u. apply known_gradient.
    + intros i. apply known_local.
    + cases_of_steps n k; simpl; auto.
    + intros i v Hi Hv. apply fresh; assumption.
    + intros i j Hi Hj apart. simpl in Hi, Hj.
      destruct i as [| [| i]], j as [| [| j]]; try lia.
      * exact (independent n k).
      * exact (eq_trans (dot_comm V _ _) (independent n k)).
  - intros n k v H. cases_of_steps n k; simpl in *; auto. intros w j. rewrite (H w), (H (w mod 4)%nat). reflexivity.
  - intros n v _. exact I.
Qed.

Lemma coin_run_uniform : uniform (clients_of coin_run).
Proof. intros i _. simpl. lra. Qed.

Lemma coin_run_variance : always coin_run (fun S => bounded_variance S 1).
Proof.
  intros n k i Hi. simpl in Hi. change (dot (noise n k i : V) (noise n k i) <= 1 ^ 2). rewrite expected_of_all.
  cases_of_steps n k; destruct i as [| [| i]]; try lia; cbn; lra.
Qed.

(** The noise of one sample is the same at all points. *)
Lemma coin_run_drawn_there n k : drawn_at (step_at coin_run n k) (known n k) (noise n k).
Proof.
  pose proof (steps_unbiased _ _ coin_run_unbiased n k) as unbiased_here.
  constructor; intros; [apply (noise_fresh _ _ unbiased_here) | ..]; auto; apply (noise_independent _ _ unbiased_here); auto.
Qed.

Lemma coin_run_smooth_noise ell y : 0 <= ell -> always coin_run convex_clients ->
  forall n k, smooth_noise (step_at coin_run n k) ell y (noise n k).
Proof.
  intros positive convex n k i Hi. cbn [gradient_noise step_at].
  change (noise_of coin_run n k i) with (noise n k i). rewrite minus_self, dot_zero.
  apply Rmult_le_pos; [lra | apply (convex n k i Hi)].
Qed.

Lemma coin_run_noise_there n k : noise_at (step_at coin_run n k) (noise n k) 1.
Proof.
  apply Rle_trans with (mean two (fun _ => 1 ^ 2)).
  - apply mean_le. intros i Hi. exact (coin_run_variance n k i Hi).
  - right. apply mean_const.
Qed.
End Runs.
