(** A run of two clients with noise whose gradients differ by constants: F_1(x) = x^2/2 - x, F_2(x) = x^2/2 + x.

    The gradient dissimilarity and the second moments of gradients are bounded; those of [TwoClients] are not. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Run Instance TwoClients CoinRuns.
Open Scope R_scope.

(** A point at which the gradient of a convex F vanishes is a minimiser. *)
Lemma stationary_is_minimiser (S : step) (x : step_space S) : convex_clients S -> grad (F S) x = zero -> minimiser S x.
Proof.
  intros convex_clients_S stationary. split; [exact stationary |]. intros y.
  pose proof (convex_F S convex_clients_S y x) as above. unfold gap in above.
  rewrite stationary, dot_zero in above. lra.
Qed.

(** If an iterate is near, in expectation, to a point of norm one, so is the next iterate of gradient descent with
    fresh noise towards this point. *)
Lemma step_stays (X : space) (x b g xi : X) size :
  (forall u, dot g u = dot x u - dot b u) -> dot xi x = 0 -> dot xi b = 0 -> dot xi xi <= 1 -> dot b b = 1 ->
  0 < size <= 1 -> dot x x <= 2 -> ‖x - size • (g + xi)‖² <= 2.
Proof.
  intros gradient fresh_x fresh_b variance length_b small near. pose proof (dot_self _ (x - b)%vec) as apart.
  set (u := (x - size • (g + xi))%vec).
  assert (with_x : dot u x = dot x x - size * (dot x x - dot x b)).
  { unfold u. rewrite dot_minus, dot_scale, dot_plus, gradient, fresh_x, (dot_comm _ b x). ring. }
  assert (with_b : dot u b = dot x b - size * (dot x b - 1)).
  { unfold u. rewrite dot_minus, dot_scale, dot_plus, gradient, fresh_b, length_b. ring. }
  assert (with_noise : dot u xi = - size * dot xi xi).
  { unfold u. rewrite dot_minus, dot_scale, dot_plus, gradient, (dot_comm _ x xi), (dot_comm _ b xi), fresh_x, fresh_b.
    ring. }
  assert (whole : dot u u = dot u x - size * (dot u x - dot u b + dot u xi)).
  { unfold u at 1. rewrite dot_minus, dot_scale, dot_plus, gradient.
    rewrite (dot_comm _ x u), (dot_comm _ b u), (dot_comm _ xi u). ring. }
  rewrite dot_minus, (dot_comm _ x (minus x b)), (dot_comm _ b (minus x b)), !dot_minus, (dot_comm _ b x), length_b in apart.
  rewrite whole, with_x, with_b, with_noise.
  assert (0 <= size * (1 - size)) by nra. nra.
Qed.

Lemma sample_is_bounded (X : space) (x b g xi : X) :
  (forall u, dot g u = dot x u - dot b u) -> dot xi g = 0 -> dot xi xi <= 1 -> dot b b = 1 -> dot x x <= 2 ->
  ‖g + xi‖² <= 3 ^ 2.
Proof.
  intros gradient fresh_g variance length_b near. pose proof (dot_self _ (x + b)%vec) as together.
  assert (square : dot (g + xi)%vec (g + xi)%vec = dot g g + dot xi xi).
  { rewrite dot_plus, (dot_comm _ g (plus g xi)), (dot_comm _ xi (plus g xi)), !dot_plus, (dot_comm _ g xi), fresh_g. ring. }
  assert (of_gradient : dot g g = dot x x - 2 * dot x b + dot b b).
  { rewrite gradient, (dot_comm _ x g), (dot_comm _ b g), !gradient, (dot_comm _ b x). ring. }
  rewrite dot_plus, (dot_comm _ x (plus x b)), (dot_comm _ b (plus x b)), !dot_plus, (dot_comm _ b x) in together.
  rewrite square, of_gradient. lra.
Qed.

Definition unit_matrix (_ _ : nat) : R := 1.
Definition pulled (i : nat) : R := match i with O => 1 | _ => -1 end.
Definition alike_client (i : nat) : objective V := quadratic four_coins unit_matrix (fun _ => pulled i).

Lemma alike_by_model i (x : V) w u j : (forall l, x w l = x u l) -> grad (alike_client i) x w j = grad (alike_client i) x u j.
Proof. intros H. cbn. unfold applied. cbn. rewrite (H O). reflexivity. Qed.

Section Alike.
Context (size : R) (steps rounds : nat) (some_step : (0 < steps)%nat) (some_round : (0 < rounds)%nat).

(** The run with step size eta = [size] that starts at 1. *)
Definition alike : run := coin_run alike_client size steps rounds 1 some_step some_round.

Definition alike_unbiased : unbiased_run alike known :=
  coin_run_unbiased alike_client size steps rounds 1 some_step some_round alike_by_model.

Lemma unit_bounds : between four_coins unit_matrix 1.
Proof. split; [reflexivity |]. intros x. unfold product_in_Rd, applied, unit_matrix. simpl. nra. Qed.

Lemma alike_convex : always alike convex_clients.
Proof. intros n k i _. apply (quadratic_convex four_coins) with (1 := unit_bounds). Qed.

Lemma alike_smooth : always alike (fun S => smooth_clients S 1).
Proof. intros n k i _. apply (quadratic_smooth four_coins) with (1 := unit_bounds). Qed.

Lemma alike_strongly_convex : always alike (fun S => strongly_convex_clients S 1).
Proof.
  intros n k i _ y x. cbn [client_objective step_at]. change (objective_of alike i) with (alike_client i).
  unfold alike_client. rewrite (gap_of_quadratic four_coins unit_matrix) by reflexivity.
  set (d := (y - x)%vec). rewrite expected_of_all. unfold expected, product_in_Rd, applied, unit_matrix. cbn.
  right. field.
Qed.

Definition middle : V := fun _ _ => 0.

Lemma alike_minimiser n k : minimiser (step_at alike n k) middle.
Proof.
  apply stationary_is_minimiser; [apply alike_convex |].
  repeat (apply functional_extensionality; intros). cbn. unfold applied, middle, unit_matrix. cbn. field.
Qed.

Lemma middle_is_known n k : known n k middle.
Proof. cases_of_steps n k; cbn -[Nat.modulo]; auto. Qed.

(** The gradients of the two clients differ from their average by one. *)
Lemma alike_difference n k i (x : V) : (i < 2)%nat ->
  ‖grad (client_objective (step_at alike n k) i) x - grad (F (step_at alike n k)) x‖² = 1.
Proof.
  intros Hi. set (v := minus _ _). change (dot v v = 1). rewrite expected_of_all.
  assert (E : forall w, v w O = - pulled i).
  { intros w. unfold v. cbn. unfold applied, unit_matrix. cbn. destruct i as [| [| i]]; try lia; cbn; field. }
  cbn [sum]. rewrite !E. destruct i as [| [| i]]; try lia; cbn; field.
Qed.

Lemma alike_dissimilarity : always alike (fun S => bounded_dissimilarity S 1).
Proof. intros n k i x Hi. rewrite (alike_difference n k i x Hi). lra. Qed.

Lemma alike_mean_dissimilarity : always alike (fun S => bounded_mean_dissimilarity S 1).
Proof.
  intros n k x. rewrite (mean_ext _ _ (fun _ => 1)); [rewrite mean_const; lra |].
  intros i Hi. apply alike_difference, Hi.
Qed.

Lemma alike_dissimilarity_at n k y : dissimilarity_at (step_at alike n k) y 1.
Proof. apply alike_mean_dissimilarity. Qed.

(** For small steps all iterates stay bounded in expectation, and so do the second moments of gradients. *)
Context (size_positive : 0 < size) (size_small : size <= 1).

Lemma alike_gradient i (x u : V) :
  dot (grad (alike_client i) x) u = dot x u - dot ((fun _ _ => pulled i) : V) u.
Proof. rewrite !expected_of_all. cbn. unfold applied, unit_matrix. cbn. field. Qed.

Lemma alike_stays n k i : (i < 2)%nat -> ‖server alike n‖² <= 2 -> ‖local alike (server alike n) n k i‖² <= 2.
Proof.
  intros Hi start. induction k as [| k IH]; [exact start |].
  pose proof (steps_unbiased _ _ alike_unbiased n k) as unbiased_here.
  apply (step_stays V (local alike (server alike n) n k i) ((fun _ _ => pulled i) : V)
    (grad (alike_client i) (local alike (server alike n) n k i)) (noise n k i) size).
  - apply alike_gradient.
  - apply (noise_fresh _ _ unbiased_here); [exact Hi | apply (past_iterates _ _ unbiased_here)].
  - apply (noise_fresh _ _ unbiased_here); [exact Hi |]. cases_of_steps n k; cbn -[Nat.modulo]; auto.
  - pose proof (coin_run_variance alike_client size steps rounds 1 some_step some_round n k i Hi) as variance.
    change (dot (noise n k i : V) (noise n k i) <= 1 ^ 2) in variance. lra.
  - rewrite expected_of_all. destruct i as [| [| i]]; try lia; cbn; field.
  - split; assumption.
  - exact IH.
Qed.

Lemma alike_server_stays n : ‖server alike n‖² <= 2.
Proof.
  induction n as [| n IH].
  - cbn [server]. rewrite expected_of_all. cbn. lra.
  - cbn [server]. apply Rle_trans with (1 := jensen _ _). apply Rle_trans with (mean two (fun _ => 2)).
    + apply mean_le. intros i Hi. apply alike_stays; assumption.
    + right. apply mean_const.
Qed.

Lemma alike_second_moment : always alike (fun S => bounded_second_moment S 3).
Proof.
  intros n k i Hi. pose proof (alike_stays n k i Hi (alike_server_stays n)) as near.
  pose proof (steps_unbiased _ _ alike_unbiased n k) as unbiased_here.
  pose proof (coin_run_variance alike_client size steps rounds 1 some_step some_round n k i Hi) as variance.
  pose proof (past_gradient _ _ unbiased_here i _ (past_iterates _ _ unbiased_here i)) as known_gradient.
  pose proof (noise_fresh _ _ unbiased_here i _ Hi known_gradient) as fresh_here.
  apply (sample_is_bounded V (local alike (server alike n) n k i) ((fun _ _ => pulled i) : V)
    (grad (alike_client i) (local alike (server alike n) n k i)) (noise n k i)).
  - apply alike_gradient.
  - exact fresh_here.
  - change (dot (noise n k i : V) (noise n k i) <= 1 ^ 2) in variance. lra.
  - rewrite expected_of_all. destruct i as [| [| i]]; try lia; cbn; field.
  - exact near.
Qed.
End Alike.

(** The run with one round of two local steps of size 1/4. *)
Definition two_steps : run := alike (1 / 4) 2 1 (Nat.lt_0_succ 1) (Nat.lt_0_succ 0).

Lemma quarter_positive : 0 < 1 / 4. Proof. lra. Qed.
Lemma three_nonnegative : 0 <= 3. Proof. lra. Qed.
Definition two_steps_unbiased : unbiased_run two_steps known := alike_unbiased _ _ _ _ _.
Definition two_steps_uniform : uniform (clients_of two_steps) := coin_run_uniform _ _ _ _ _ _ _.
Definition two_steps_convex : always two_steps convex_clients := alike_convex _ _ _ _ _.
Definition two_steps_smooth : always two_steps (fun S => smooth_clients S 1) := alike_smooth _ _ _ _ _.
Definition two_steps_strongly_convex : always two_steps (fun S => strongly_convex_clients S 1) :=
  alike_strongly_convex _ _ _ _ _.
Definition two_steps_variance : always two_steps (fun S => bounded_variance S 1) := coin_run_variance _ _ _ _ _ _ _.
Definition two_steps_dissimilarity : always two_steps (fun S => bounded_dissimilarity S 1) := alike_dissimilarity _ _ _ _ _.
Definition two_steps_minimiser : minimiser (step_at two_steps O O) middle := alike_minimiser _ _ _ _ _ O O.
Lemma two_steps_second_moment : always two_steps (fun S => bounded_second_moment S 3).
Proof. apply alike_second_moment; lra. Qed.
Lemma two_steps_small : size_of two_steps <= 1 / 1. Proof. cbn. lra. Qed.
