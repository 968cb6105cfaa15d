(** One round in which some clients are drawn, each of which takes its own number of local steps, of its own size.

    Vlaski & Sayed (2023), chapter 5: (5.3) to (5.5) and (5.10) to (5.12). *)

From Coq Require Import Reals Lra Lia Setoid Morphisms.
Require Import Space Clients Objectives Normal Step.
Open Scope R_scope.

(** The first step of all clients, and what the others need. *)
Record round := {
  begun :> step;
  steps_of_client : nat -> nat;
  size_of_client : nat -> R;
  noise_of : nat -> nat -> step_space begun;
  noise_at_start : nat -> nat -> step_space begun;
  some_steps_of_client : forall i, (0 < steps_of_client i)%nat }.

(** Uniform draws without replacement, by what is known of them: in each outcome L clients are drawn; client i is drawn
    with probability L/M, and two different ones together with probability L (L - 1)/(M (M - 1)). *)
Record draws (C : clients) := {
  outcomes : clients;
  is_drawn : nat -> nat -> bool;
  participants_of : nat;
  some_participants : (0 < participants_of)%nat }.

Arguments outcomes {C}.
Arguments is_drawn {C}.
Arguments participants_of {C}.
Arguments some_participants {C}.

Definition participates {C} (D : draws C) (s i : nat) : R := if is_drawn D s i then 1 else 0.
Definition participants {C} (D : draws C) : R := INR (participants_of D).

Record uniform_draws {C} (D : draws C) : Prop := {
  participants_in_all : forall s, (s < number (outcomes D))%nat ->
    sum (number C) (participates D s) = participants D;
  one_drawn : forall i, (i < number C)%nat ->
    mean (outcomes D) (fun s => participates D s i) = participants D / INR (number C);
  two_drawn : forall i j, (i < number C)%nat -> (j < number C)%nat -> i <> j ->
    mean (outcomes D) (fun s => participates D s i * participates D s j)
    = participants D * (participants D - 1) / (INR (number C) * (INR (number C) - 1)) }.

Section Definitions.
Context (A : round).
Notation V := (step_space A).
Notation C := (step_clients A).
Notation F_i := (client_objective A).

(** phi_{k,e}, from phi_{k,0} = w_{i-1}; the samples there and at w_{i-1}; psi_{k,i}. *)
Fixpoint iterate (e i : nat) : V :=
  match e with
  | O => server_model A
  | S e => let x := iterate e i in (x - size_of_client A i • (grad (F_i i) x + noise_of A e i))%vec
  end.

Definition sample (e i : nat) : V := (grad (F_i i) (iterate e i) + noise_of A e i)%vec.
Definition sample_at_start (e i : nat) : V := (grad (F_i i) (server_model A) + noise_at_start A e i)%vec.
Definition local_result (i : nat) : V := iterate (steps_of_client A i) i.
Definition E_of (i : nat) : R := INR (steps_of_client A i).

(** The sum over the local steps of client i. *)
Definition local_sum (f : nat -> nat -> V) (i : nat) : V := vsum (steps_of_client A i) (fun e => f e i).
Definition local_total (f : nat -> nat -> R) (i : nat) : R := sum (steps_of_client A i) (fun e => f e i).

(** The mean over those that are drawn in outcome s, and the server's next model. *)
Definition selected (D : draws C) (f : nat -> V) (s : nat) : V :=
  vsum (number C) (fun i => scale (participates D s i / participants D) (f i)).
Definition mean_of_draws (D : draws C) (f : nat -> V) : V := vmean (outcomes D) (selected D f).
Definition next_server_model (D : draws C) (s : nat) : V := selected D local_result s.

(** (5.26): step sizes that are normalised by the number of steps. *)
Definition normalised_steps : Prop := forall i, size_of_client A i = step_size A / E_of i.
Definition same_size : Prop := forall i j, size_of_client A i = size_of_client A j.

(** (5.53): where the gradients vanish in the mean that the clients' steps give them. *)
Definition small_step_optimum (x : V) : Prop :=
  vmean C (fun i => (size_of_client A i * E_of i) • grad (F_i i) x)%vec = zero.

(** The mean given the past: what differs from it is orthogonal to the past. *)
Record conditional_mean (past : V -> Prop) (expected : V -> V) : Prop := {
  expected_past : forall v, past (expected v);
  expected_rest : forall v w, past w -> ⟨v - expected v, w⟩ = 0 }.

(** Samples at the start of the round: their noise is fresh, and independent between clients and steps. *)
Record unbiased_round (past : V -> Prop) : Prop := {
  unbiased_start : unbiased A past;
  start_fresh : forall e i v, (i < number C)%nat -> past v -> ⟨noise_at_start A e i, v⟩ = 0;
  start_of_others : forall e f i j, (i < number C)%nat -> (j < number C)%nat -> i <> j ->
    ⟨noise_at_start A e i, noise_at_start A f j⟩ = 0;
  start_of_other_steps : forall e f i, (i < number C)%nat -> e <> f ->
    ⟨noise_at_start A e i, noise_at_start A f i⟩ = 0 }.

Lemma E_large i : 1 <= E_of i.
Proof. unfold E_of. replace 1 with (INR 1) by reflexivity. apply le_INR. apply some_steps_of_client. Qed.

Lemma result_by_sum i w : dot (local_result i) w
  = dot (server_model A) w - size_of_client A i * sum (steps_of_client A i) (fun e => dot (sample e i) w).
Proof.
  unfold local_result. induction (steps_of_client A i) as [| e IH]; cbn [iterate sum]; [ring |].
  cbv zeta. rewrite dot_minus, dot_scale, IH. unfold sample. ring.
Qed.

Lemma small_step_gradients x w : same_size -> 0 < size_of_client A O -> small_step_optimum x ->
  mean C (fun i => E_of i * dot (grad (F_i i) x) w) = 0.
Proof.
  intros same positive H. apply Rmult_eq_reg_l with (size_of_client A O); [| lra].
  rewrite Rmult_0_r, <- mean_scale, <- (dot_zero w), <- H, dot_vmean. apply mean_ext. intros i _.
  rewrite dot_scale, (same i O). ring.
Qed.

Section Of_draws.
Context (D : draws C) (uniform_D : uniform_draws D) (uniform_C : uniform C).

Lemma participants_large : 1 <= participants D.
Proof.
  unfold participants. replace 1 with (INR 1) by reflexivity. apply le_INR. apply some_participants.
Qed.

(** A participant's weight among the clients, of which each has share 1/M. *)
Definition weight (s i : nat) : R := INR (number C) / participants D * participates D s i.

Lemma dot_selected f s w : dot (selected D f s) w = mean C (fun i => weight s i * dot (f i) w).
Proof.
  unfold selected, mean. rewrite dot_vsum. apply sum_ext. intros i Hi. rewrite dot_scale, (uniform_C i Hi).
  unfold weight. field. pose proof participants_large. pose proof (number_pos C). split; lra.
Qed.

Lemma mean_weight s c : (s < number (outcomes D))%nat -> mean C (fun i => weight s i * c) = c.
Proof.
  intros Hs. unfold mean.
  rewrite (sum_ext _ _ (fun i => c / participants D * participates D s i)).
  - rewrite sum_scale, (participants_in_all D uniform_D s Hs). field. pose proof participants_large. lra.
  - intros i Hi. rewrite (uniform_C i Hi). unfold weight. field. pose proof participants_large. pose proof (number_pos C). split; lra.
Qed.

Lemma participants_by_mean s : (s < number (outcomes D))%nat -> M A * mean C (participates D s) = participants D.
Proof.
  intros Hs. rewrite <- (participants_in_all D uniform_D s Hs). unfold mean.
  rewrite (sum_ext _ _ (fun i => / M A * participates D s i)) by (intros i Hi; rewrite (uniform_C i Hi); reflexivity).
  rewrite sum_scale. field. pose proof (number_pos C). unfold M. lra.
Qed.

Lemma weight_in_the_mean i : (i < number C)%nat -> mean (outcomes D) (fun s => weight s i) = 1.
Proof.
  intros Hi. unfold weight. rewrite mean_scale, (one_drawn D uniform_D i Hi). field.
  pose proof participants_large. pose proof (number_pos C). split; lra.
Qed.

Lemma mean_of_selected f w : mean (outcomes D) (fun s => dot (selected D f s) w) = mean C (fun i => dot (f i) w).
Proof.
  rewrite (mean_ext _ _ (fun s => mean C (fun i => weight s i * dot (f i) w))) by (intros; apply dot_selected).
  unfold mean at 1. rewrite (sum_ext _ _ (fun s => mean C (fun i => share (outcomes D) s * (weight s i * dot (f i) w)))).
  - rewrite <- mean_swap. apply mean_ext. intros i Hi.
    rewrite (sum_ext _ _ (fun s => dot (f i) w * (share (outcomes D) s * weight s i))) by (intros; ring).
    rewrite sum_scale. fold (mean (outcomes D) (fun s => weight s i)). rewrite weight_in_the_mean by assumption. ring.
  - intros s Hs. rewrite mean_scale. reflexivity.
Qed.
End Of_draws.

Section Of_the_past.
Context (past : V -> Prop) (expected : V -> V).
Context (given : conditional_mean past expected).

Lemma expected_inside u w : dot (expected u) w = dot u (expected w).
Proof.
  pose proof (expected_rest past expected given w (expected u) (expected_past past expected given u)) as K.
  pose proof (expected_rest past expected given u (expected w) (expected_past past expected given w)) as B.
  rewrite dot_minus in *. rewrite (dot_comm V w), (dot_comm V (expected w)) in K. lra.
Qed.

Lemma expected_of_past v w : past v -> dot v (expected w) = dot v w.
Proof.
  intros H. pose proof (expected_rest past expected given w v H) as K. rewrite dot_minus in K.
  rewrite !(dot_comm V v). lra.
Qed.

Context (fresh : unbiased_round past).

Lemma noise_expected e i w : (i < number C)%nat -> dot (noise_at_start A e i) (expected w) = 0.
Proof. intros Hi. apply (start_fresh past fresh); auto. apply (expected_past past expected given). Qed.

Lemma noise_total_expected i w : (i < number C)%nat ->
  sum (steps_of_client A i) (fun e => dot (noise_at_start A e i) (expected w)) = 0.
Proof.
  intros Hi. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |]. intros e _. apply noise_expected; assumption.
Qed.
End Of_the_past.
End Definitions.

Lemma square_zero {V : space} (u : V) : (forall w, dot u w = 0) -> ‖u‖² = 0.
Proof. auto. Qed.

Global Instance mean_pointwise (C : clients) : Proper (pointwise_relation nat eq ==> eq) (mean C).
Proof. intros f g H. apply mean_ext. intros; apply H. Qed.

Global Instance sum_pointwise n : Proper (pointwise_relation nat eq ==> eq) (sum n).
Proof. intros f g H. apply sum_ext. intros; apply H. Qed.

Section Of_linearity.
Context (A : round).
Notation C := (step_clients A).

Lemma dot_grad_F x w : dot (grad (F A) x) w = mean C (fun i => dot (grad (client_objective A i) x) w).
Proof. apply dot_vmean. Qed.

Lemma dot_local_sum f i w : dot (local_sum A f i) w = sum (steps_of_client A i) (fun e => dot (f e i) w).
Proof. apply dot_vsum. Qed.

Lemma dot_sample e i w : dot (sample A e i) w
  = dot (grad (client_objective A i) (iterate A e i)) w + dot (noise_of A e i) w.
Proof. apply dot_plus. Qed.

Lemma dot_sample_at_start e i w : dot (sample_at_start A e i) w
  = dot (grad (client_objective A i) (server_model A)) w + dot (noise_at_start A e i) w.
Proof. apply dot_plus. Qed.

Lemma dot_mean_of_draws (D : draws C) f w : uniform_draws D -> uniform C ->
  dot (mean_of_draws A D f) w = mean C (fun i => dot (f i) w).
Proof. intros HD HC. unfold mean_of_draws. rewrite dot_vmean. apply mean_of_selected; assumption. Qed.

Lemma dot_next_server_model (D : draws C) s w : dot (next_server_model A D s) w = dot (selected A D (local_result A) s) w.
Proof. reflexivity. Qed.

Lemma local_total_const i c : sum (steps_of_client A i) (fun _ => c) = E_of A i * c.
Proof. apply sum_const. Qed.
End Of_linearity.

(** Equations between vectors that are linear in sums over steps and means over clients and participants: as numbers,
    against any vector, both sides are one mean over the clients, whose members are compared. *)
Ltac pushed :=
  repeat first
    [ match goal with
      | U : uniform_draws ?D, H : uniform_shares (begun ?S) |- _ =>
          first [setoid_rewrite (fun f w => dot_mean_of_draws S D f w U H) | setoid_rewrite (fun f s w => dot_selected S D H f s w)]
      | G : conditional_mean ?S ?past ?expected |- _ => setoid_rewrite (expected_inside S past expected G)
      end
    | setoid_rewrite dot_next_server_model | setoid_rewrite result_by_sum
    | setoid_rewrite dot_sample | setoid_rewrite dot_sample_at_start
    | setoid_rewrite dot_local_sum | setoid_rewrite dot_grad_F
    | setoid_rewrite dot_minus | setoid_rewrite dot_plus | setoid_rewrite dot_scale | setoid_rewrite dot_vmean ];
  repeat first
    [ setoid_rewrite sum_minus | setoid_rewrite sum_plus | setoid_rewrite sum_scale | setoid_rewrite local_total_const ].

(** What a number, linear in means over the clients, is for client i; [plain] says what others are. *)
Ltac member i plain t :=
  match t with
  | ?a + ?b => let a' := member i plain a in let b' := member i plain b in constr:(a' + b')
  | ?a - ?b => let a' := member i plain a in let b' := member i plain b in constr:(a' - b')
  | ?c * ?a => let a' := member i plain a in constr:(c * a')
  | mean _ ?f => let m := eval cbv beta in (f i) in constr:(m)
  | _ => constr:(plain i t)
  end.

Ltac as_one_mean S plain :=
  match goal with
  | |- ?a = 0 =>
      let f := constr:(fun i : nat => ltac:(let m := member i plain a in let m := eval cbv beta in m in exact m)) in
      transitivity (mean (step_clients S) f)
  end;
  [ repeat first [rewrite mean_minus | rewrite mean_plus | rewrite mean_scale | rewrite mean_const];
    rewrite ?mean_weight by assumption; reflexivity
  | transitivity (mean (step_clients S) (fun _ => 0)); [apply mean_ext; intros ? ? | apply mean_const] ].

(** Numbers of one client: noise that is not known yet vanishes in the mean, and what is past is its own mean. *)
Ltac of_client :=
  try match goal with
  | G : conditional_mean ?S ?past ?expected, U : unbiased_round ?S ?past |- _ =>
      pose proof (unbiased_start S past U);
      rewrite ?(noise_total_expected S past expected G U) by assumption;
      rewrite ?(expected_of_past S past expected G) by in_past
  end;
  try match goal with N : normalised_steps ?S |- _ => rewrite ?N end;
  repeat match goal with
  | S : round, Hi : (?i < number (step_clients _))%nat |- _ =>
      lazymatch goal with H : 1 <= E_of S i |- _ => fail | _ => pose proof (E_large S i) end
  end;
  try match goal with D : draws _ |- _ => pose proof (participants_large _ D) end;
  try match goal with S : round |- _ => pose proof (clients_at_least_one S) end;
  unfold weight, M in *;
  first [ring | field; nonzero].

Ltac by_linearity :=
  apply square_zero; intros w; pushed;
  match goal with
  | S : round |- _ =>
      first
        [ solve [of_client]
        | solve [as_one_mean S (fun (i : nat) (c : R) => c); of_client]
        | solve [match goal with D : draws _, s : nat |- _ => as_one_mean S (fun (i : nat) (c : R) => weight S D s i * c); of_client end]
        | solve [match goal with B : small_step_optimum ?S ?x |- _ => apply (small_step_gradients S x); assumption end] ]
  end.

(** Equations between numbers. *)
Ltac by_number :=
  match goal with
  | N : normalised_steps ?S |- size_of_client ?S _ = _ => apply N
  | U : uniform_draws _ |- mean (outcomes _) _ = _ => apply (one_drawn _ U); assumption
  | U : uniform_draws _, H : uniform_shares _ |- _ * mean _ _ = _ => apply participants_by_mean; assumption
  | |- context [participates ?D ?s ?i] => unfold participates; destruct (is_drawn D s i); ring
  end.
