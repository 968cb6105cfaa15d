(** One local step of all clients, from any iterates.

    Renard (2022), Algorithm 1 and equation (1); Liu et al. (2022), Algorithm 1:
    x_i' = x_i - eta g_i with g_i = grad F_i(x_i) + n_i. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal.
Open Scope R_scope.

Record step := {
  step_space : space;
  step_clients : clients;
  client_objective : nat -> objective step_space;
  local_iterate : nat -> step_space;
  gradient_noise : nat -> step_space;
  step_size : R;
  server_model : step_space }.

Section Definitions.
Context (S : step).
Notation V := (step_space S).
Notation C := (step_clients S).

(** The number of clients, as a real number. *)
Definition M : R := INR (number C).
Definition F : objective V := mean_objective C (client_objective S).
Definition stochastic_gradient (i : nat) : V :=
  (grad (client_objective S i) (local_iterate S i) + gradient_noise S i)%vec.
Definition next_iterate (i : nat) : V := (local_iterate S i - step_size S • stochastic_gradient i)%vec.
Definition average : V := vmean C (local_iterate S).
Definition next_average : V := vmean C next_iterate.

(** The past of a step: vectors that do not depend on its noise, closed under sums, multiples and gradients.  Given
    the past, noise has expectation zero and is independent between clients. *)
Record unbiased (past : V -> Prop) : Prop := {
  past_plus : forall u v, past u -> past v -> past (u + v)%vec;
  past_scale : forall a u, past u -> past (a • u)%vec;
  past_gradient : forall i u, past u -> past (grad (client_objective S i) u);
  past_iterates : forall i, past (local_iterate S i);
  past_server : past (server_model S);
  noise_fresh : forall i v, (i < number C)%nat -> past v -> ⟨gradient_noise S i, v⟩ = 0;
  noise_independent : forall i j, (i < number C)%nat -> (j < number C)%nat -> i <> j ->
    ⟨gradient_noise S i, gradient_noise S j⟩ = 0 }.

(** Renard (2022), Assumptions 1 to 4. *)
Definition convex_clients : Prop := forall i, (i < number C)%nat -> convex (client_objective S i).
Definition smooth_clients (L : R) : Prop := forall i, (i < number C)%nat -> smooth L (client_objective S i).
Definition bounded_variance (sigma : R) : Prop :=
  forall i, (i < number C)%nat -> ‖gradient_noise S i‖² <= sigma ^ 2.
Definition bounded_dissimilarity (zeta : R) : Prop := forall i x, (i < number C)%nat ->
  ‖grad (client_objective S i) x - grad F x‖² <= zeta ^ 2.

(** Liu et al. (2022), Assumption 3, and the average dissimilarity of their section on non-iid data. *)
Definition bounded_second_moment (G : R) : Prop :=
  forall i, (i < number C)%nat -> ‖stochastic_gradient i‖² <= G ^ 2.
Definition bounded_mean_dissimilarity (zeta : R) : Prop := forall x,
  mean C (fun i => ‖grad (client_objective S i) x - grad F x‖²) <= zeta ^ 2.

Definition quiet : Prop := forall i, gradient_noise S i = zero.

(** A minimiser: the gradient of F vanishes there, and F is nowhere smaller. *)
Definition minimiser (x : V) : Prop := grad F x = zero /\ forall y, value F x <= value F y.

(** Wang et al. (2019), Assumption 1: losses differ by at most rho times the distance. *)
Definition lipschitz_clients (rho : R) : Prop := forall i y x, (i < number C)%nat ->
  value (client_objective S i) y - value (client_objective S i) x <= rho * length (y - x)%vec.

Definition uniform_shares : Prop := uniform C.

(** A comparator y: the noise m_i of the step's samples at y is unbiased given the past as well.  Its distance from the
    noise at the client's iterate is bounded by the excess of the objective over its tangent. *)
Record drawn_at (past : V -> Prop) (m : nat -> V) : Prop := {
  drawn_fresh : forall i v, (i < number C)%nat -> past v -> ⟨m i, v⟩ = 0;
  drawn_independent : forall i j, (i < number C)%nat -> (j < number C)%nat -> i <> j -> ⟨m i, m j⟩ = 0;
  draws_independent : forall i j, (i < number C)%nat -> (j < number C)%nat -> i <> j -> ⟨gradient_noise S i, m j⟩ = 0 }.
Definition smooth_noise (ell : R) (y : V) (m : nat -> V) : Prop := forall i, (i < number C)%nat ->
  ‖gradient_noise S i - m i‖² <= 2 * ell * gap (client_objective S i) y (local_iterate S i).
Definition noise_at (m : nat -> V) (sigma : R) : Prop := mean C (fun i => ‖m i‖²) <= sigma ^ 2.
Definition dissimilarity_at (y : V) (zeta : R) : Prop :=
  mean C (fun i => ‖grad (client_objective S i) y - grad F y‖²) <= zeta ^ 2.
Definition largest_share (p : R) : Prop := forall i, (i < number C)%nat -> share C i <= p.
Definition strongly_convex_clients (mu : R) : Prop :=
  forall i, (i < number C)%nat -> strongly_convex mu (client_objective S i).

Context (past : V -> Prop) (fresh : unbiased past).

Lemma past_zero : past zero.
Proof. rewrite <- (scale_zero _ (local_iterate S O)). apply past_scale; auto. apply past_iterates; auto. Qed.

Lemma past_vmean f : (forall i, past (f i)) -> past (vmean C f).
Proof.
  intros H. unfold vmean. induction (number C); simpl; [apply past_zero |].
  apply past_plus; auto. apply past_scale; auto.
Qed.

Lemma past_average : past average.
Proof. apply past_vmean, past_iterates; auto. Qed.

Lemma past_gradient_of_mean x : past x -> past (grad F x).
Proof. intros H. apply past_vmean. intros; apply past_gradient; auto. Qed.

Lemma clients_at_least_one : 1 <= M.
Proof. apply number_ge_1. Qed.

End Definitions.

(** The inequalities that certificates name, as non-negative numbers. *)
Section Reasons.
Context (S : step).
Notation V := (step_space S).
Notation C := (step_clients S).
Notation F_i := (client_objective S).
Implicit Types y x : V.

Section Of_an_objective.
Context (f : objective V) (L : R).

Lemma convexity y x : convex f -> 0 <= value f y - value f x - ⟨grad f x, y - x⟩.
Proof. intros H. apply (H y x). Qed.

Lemma smoothness y x : smooth L f -> 0 <= value f x + ⟨grad f x, y - x⟩ + L / 2 * ‖y - x‖² - value f y.
Proof. intros H. pose proof (proj2 (H y x)) as A. unfold gap in A. lra. Qed.

Lemma cocoercivity y x : 0 < L -> convex f -> smooth L f ->
  0 <= value f y - value f x - ⟨grad f x, y - x⟩ - 1 / (2 * L) * ‖grad f y - grad f x‖².
Proof.
  intros HL Hc Hs. pose proof (cocoercive f L y x HL Hc Hs) as A. unfold gap in A.
  replace (1 / (2 * L) * _) with (‖grad f y - grad f x‖² / (2 * L)) by (field; lra). lra.
Qed.

Lemma lipschitz y x : 0 < L -> smooth L f -> 0 <= L ^ 2 * ‖y - x‖² - ‖grad f y - grad f x‖².
Proof. apply lipschitz_gradient. Qed.
End Of_an_objective.

Lemma convex_F : convex_clients S -> convex (F S).
Proof. apply mean_convex. Qed.

Lemma smooth_F L : smooth_clients S L -> smooth L (F S).
Proof. apply mean_smooth. Qed.

Lemma variance sigma i : bounded_variance S sigma -> (i < number C)%nat -> 0 <= sigma ^ 2 - ‖gradient_noise S i‖².
Proof. intros H Hi. pose proof (H i Hi). lra. Qed.

Lemma dissimilarity zeta i x : bounded_dissimilarity S zeta -> (i < number C)%nat ->
  0 <= zeta ^ 2 - ‖grad (F_i i) x - grad (F S) x‖².
Proof. intros H Hi. pose proof (H i x Hi). lra. Qed.

Lemma mean_dissimilarity zeta x : bounded_mean_dissimilarity S zeta ->
  0 <= zeta ^ 2 - mean C (fun i => ‖grad (F_i i) x - grad (F S) x‖²).
Proof. intros H. pose proof (H x). lra. Qed.

Lemma smoothness_of_noise ell y m i : smooth_noise S ell y m -> (i < number C)%nat ->
  0 <= 2 * ell * (value (F_i i) y - value (F_i i) (local_iterate S i)
    - ⟨grad (F_i i) (local_iterate S i), y - local_iterate S i⟩) - ‖gradient_noise S i - m i‖².
Proof. intros H Hi. pose proof (H i Hi). unfold gap in *. lra. Qed.

Lemma noise_bound_there m sigma : noise_at S m sigma -> 0 <= sigma ^ 2 - mean C (fun i => ‖m i‖²).
Proof. unfold noise_at. lra. Qed.

Lemma dissimilarity_there y zeta : dissimilarity_at S y zeta ->
  0 <= zeta ^ 2 - mean C (fun i => ‖grad (F_i i) y - grad (F S) y‖²).
Proof. unfold dissimilarity_at. lra. Qed.

Lemma strong_convexity mu f y x : strongly_convex mu f ->
  0 <= value f y - value f x - ⟨grad f x, y - x⟩ - mu / 2 * ‖y - x‖².
Proof. intros H. apply (H y x). Qed.

Lemma strongly_convex_F mu : strongly_convex_clients S mu -> strongly_convex mu (F S).
Proof. apply mean_strongly_convex. Qed.

Lemma second_moment G i : bounded_second_moment S G -> (i < number C)%nat -> 0 <= G ^ 2 - ‖stochastic_gradient S i‖².
Proof. intros H Hi. pose proof (H i Hi). lra. Qed.

Lemma optimality y x : minimiser S x -> 0 <= value (F S) y - value (F S) x.
Proof. intros [_ H]. pose proof (H y). lra. Qed.
End Reasons.

(** Tactics of generated proofs: vectors belong to the past, and atoms have the properties that the normal form
    needs. *)
Ltac in_past :=
  match goal with
  | H : unbiased ?S ?past |- _ =>
      repeat first
        [ assumption | solve [auto]
        | apply (past_iterates S past H) | apply (past_server S past H) | apply (past_zero S past H)
        | apply (past_average S past H)
        | apply (past_gradient S past H) | apply (past_gradient_of_mean S past H)
        | apply (past_plus S past H) | apply (past_scale S past H)
        | apply (past_vmean S past H); intros ]
  end.

Ltac by_cases_on_atoms :=
  repeat match goal with
  | |- context [match ?k with O => _ | S _ => _ end] => is_var k; destruct k
  | H : context [match ?k with O => _ | S _ => _ end] |- _ => is_var k; destruct k
  | H : context [match ?l with nil => _ | cons _ _ => _ end] |- _ => is_var l; destruct l
  end.

Ltac atom_fact :=
  solve
    [ discriminate | congruence
    | apply dot_zero | rewrite dot_comm; apply dot_zero
    | match goal with
      | H : unbiased ?S ?past |- dot (gradient_noise _ _) (gradient_noise _ _) = 0 =>
          apply (noise_independent S past H); auto
      | H : unbiased ?S ?past |- dot (gradient_noise _ _) _ = 0 => apply (noise_fresh S past H); [assumption | solve [in_past]]
      | H : drawn_at ?S ?past ?m |- dot (?m _) (?m _) = 0 => apply (drawn_independent S past m H); auto
      | H : drawn_at ?S ?past ?m |- dot (gradient_noise _ _) (?m _) = 0 => apply (draws_independent S past m H); auto
      | H : drawn_at ?S ?past ?m |- dot (?m _) (gradient_noise _ _) = 0 =>
          rewrite dot_comm; apply (draws_independent S past m H); auto
      | H : drawn_at ?S ?past ?m |- dot (?m _) _ = 0 => apply (drawn_fresh S past m H); [assumption | solve [in_past]]
      | H : forall i, grad _ (?w i) = zero |- dot (grad _ (?w ?i)) _ = 0 => rewrite (H i); apply dot_zero
      | H : quiet ?S |- dot (gradient_noise ?S ?i) _ = 0 => rewrite (H i); apply dot_zero
      | H : minimiser ?S ?x |- dot (vmean _ _) ?w = 0 =>
          transitivity (dot (grad (F S) x) w);
          [ f_equal; apply vmean_ext; intros; unfold product; apply scale_one
          | rewrite (proj1 H); apply dot_zero ]
      end ].

Ltac admissible_atoms :=
  constructor; cbn [of shared_atom own_atom own_number noisy_shared noisy zeros_shared zeros vanishing common_share] in *;
  intros; by_cases_on_atoms; first [ reflexivity | assumption | solve [auto] | atom_fact ].
