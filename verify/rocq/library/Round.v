(** One round with client sampling, in which each participant has its own number and size of local steps.

    Vlaski & Sayed (2023), chapter 5: (5.3) to (5.5) and (5.10) to (5.12). *)

From Coq Require Import Reals Lra Lia Setoid Morphisms.
Require Import Space Clients Objectives Normal Step Own.
Open Scope R_scope.

(** A round: the first step of all clients, and the data of the later ones. *)
Record round := {
  begun :> step;
  steps_of_client : nat -> nat;
  size_of_client : nat -> R;
  noise_of : nat -> nat -> step_space begun;
  noise_at_start : nat -> nat -> step_space begun;
  some_steps_of_client : forall i, (0 < steps_of_client i)%nat }.

(** Uniform sampling without replacement, given by its properties: each outcome has L participants; client i takes part
    with probability L/M, and two different clients with probability L (L - 1)/(M (M - 1)). *)
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

(** The iterates phi_{k,e} with phi_{k,0} = w_{i-1}; the gradients of samples there and at w_{i-1}; the result
    psi_{k,i}. *)
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

(** The average over the participants of outcome s, and the server's next model. *)
Definition selected (D : draws C) (f : nat -> V) (s : nat) : V :=
  vsum (number C) (fun i => scale (participates D s i / participants D) (f i)).
Definition mean_of_draws (D : draws C) (f : nat -> V) : V := vmean (outcomes D) (selected D f).
Definition next_server_model (D : draws C) (s : nat) : V := selected D local_result s.

(** The sum over the steps up to step e. *)
Definition past_sum (f : nat -> V) (e : nat) : V := vsum (e + 1) f.

(** Step sizes that are equal for all clients, and (5.26): those that are normalised by the number of local steps. *)
Definition common_steps : Prop := forall i, size_of_client A i = step_size A.
Definition normalised_steps : Prop := forall i, size_of_client A i = step_size A / E_of i.
Definition same_size : Prop := forall i j, size_of_client A i = size_of_client A j.

(** (5.53): the point at which the average of the gradients, weighted by the clients' steps, vanishes. *)
Definition small_step_optimum (x : V) : Prop :=
  vmean C (fun i => (size_of_client A i * E_of i) • grad (F_i i) x)%vec = zero.

(** The expectation given the past: the deviation from it is orthogonal to all vectors of the past. *)
Record conditional_mean (past : V -> Prop) (expected : V -> V) : Prop := {
  expected_past : forall v, past (expected v);
  expected_rest : forall v w, past w -> ⟨v - expected v, w⟩ = 0 }.

(** Samples at the start of the round: their noise is unbiased given the past, and independent between clients and
    steps. *)
Record unbiased_round (past : V -> Prop) : Prop := {
  unbiased_start : unbiased A past;
  start_fresh : forall e i v, (i < number C)%nat -> past v -> ⟨noise_at_start A e i, v⟩ = 0;
  start_of_others : forall e f i j, (i < number C)%nat -> (j < number C)%nat -> i <> j ->
    ⟨noise_at_start A e i, noise_at_start A f j⟩ = 0;
  start_of_other_steps : forall e f i, (i < number C)%nat -> e <> f ->
    ⟨noise_at_start A e i, noise_at_start A f i⟩ = 0 }.

Lemma E_large i : 1 <= E_of i.
Proof. unfold E_of. replace 1 with (INR 1) by reflexivity. apply le_INR. apply some_steps_of_client. Qed.

Lemma iterate_by_sum n i w : dot (iterate n i) w
  = dot (server_model A) w - size_of_client A i * sum n (fun e => dot (sample e i) w).
Proof.
  induction n as [| e IH]; cbn [iterate sum]; [ring |].
  cbv zeta. rewrite dot_minus, dot_scale, IH. unfold sample. ring.
Qed.

Lemma result_by_sum i w : dot (local_result i) w
  = dot (server_model A) w - size_of_client A i * sum (steps_of_client A i) (fun e => dot (sample e i) w).
Proof. apply iterate_by_sum. Qed.

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

(** A participant's weight in a client average, if each client has weight 1/M. *)
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

(** Pairs of client i and another client. *)
Lemma two_of_them i : (i < number C)%nat ->
  mean (outcomes D) (fun s => participates D s i * (M A * mean C (fun i => participates D s i) - participates D s i))
  = participants D * (participants D - 1) / M A.
Proof.
  intros Hi. rewrite (mean_ext _ _ (fun s => (participants D - 1) * participates D s i)).
  - rewrite mean_scale, (one_drawn D uniform_D i Hi). unfold M. field. pose proof (number_pos C). lra.
  - intros s Hs. change (fun i => participates D s i) with (participates D s).
    rewrite (participants_by_mean s Hs). unfold participates. destruct (is_drawn D s i); ring.
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

Lemma same_squares {V : space} (u v : V) : (forall w, dot u w = dot v w) -> ‖u‖² = ‖v‖².
Proof. intros H. rewrite H, (dot_comm _ v u), H. reflexivity. Qed.

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

Lemma dot_past_sum (f : nat -> step_space A) e w : dot (past_sum A f e) w = sum (e + 1) (fun k => dot (f k) w).
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

Lemma mean_times P f c : mean P (fun i => f i * c) = mean P f * c.
Proof. rewrite (mean_ext _ _ (fun i => c * f i)), mean_scale; intros; ring. Qed.

Lemma mean_over P f c : mean P (fun i => f i / c) = mean P f / c.
Proof. apply mean_times. Qed.

Lemma mean_opp P f : mean P (fun i => - f i) = - mean P f.
Proof. rewrite (mean_ext _ _ (fun i => -1 * f i)), mean_scale; intros; ring. Qed.

Lemma local_total_const i c : sum (steps_of_client A i) (fun _ => c) = E_of A i * c.
Proof. apply sum_const. Qed.
End Of_linearity.

(** Proves equations between vectors that are linear in sums over steps and averages over clients and participants.  The
    inner products of both sides with any vector are client averages, whose members are compared. *)
Ltac pushed :=
  repeat first
    [ match goal with
      | U : uniform_draws ?D, H : uniform_shares (begun ?S) |- _ =>
          first [setoid_rewrite (fun f w => dot_mean_of_draws S D f w U H) | setoid_rewrite (fun f s w => dot_selected S D H f s w)]
      | G : conditional_mean ?S ?past ?expected |- _ => setoid_rewrite (expected_inside S past expected G)
      end
    | setoid_rewrite dot_next_server_model | setoid_rewrite result_by_sum
    | setoid_rewrite dot_sample | setoid_rewrite dot_sample_at_start
    | setoid_rewrite dot_local_sum | setoid_rewrite dot_past_sum | setoid_rewrite iterate_by_sum | setoid_rewrite dot_grad_F
    | setoid_rewrite dot_minus | setoid_rewrite dot_plus | setoid_rewrite dot_scale | setoid_rewrite dot_vmean ];
  repeat first
    [ setoid_rewrite sum_minus | setoid_rewrite sum_plus | setoid_rewrite sum_scale | setoid_rewrite <- mean_swap | setoid_rewrite local_total_const ].

(** Writes a number that is linear in client averages as one client average. *)
Section As_mean.
Context (P : clients).

Lemma as_mean_plus a b f g : a = mean P f -> b = mean P g -> a + b = mean P (fun i => f i + g i).
Proof. intros -> ->. symmetry. apply mean_plus. Qed.

Lemma as_mean_minus a b f g : a = mean P f -> b = mean P g -> a - b = mean P (fun i => f i - g i).
Proof. intros -> ->. symmetry. apply mean_minus. Qed.

Lemma as_mean_opp a f : a = mean P f -> - a = mean P (fun i => - f i).
Proof. intros ->. symmetry. apply mean_opp. Qed.

Lemma as_mean_scale c a f : a = mean P f -> c * a = mean P (fun i => c * f i).
Proof. intros ->. symmetry. apply mean_scale. Qed.

Lemma as_mean_times a c f : a = mean P f -> a * c = mean P (fun i => f i * c).
Proof. intros ->. symmetry. apply mean_times. Qed.

Lemma as_mean_over a c f : a = mean P f -> a / c = mean P (fun i => f i / c).
Proof. intros ->. symmetry. apply mean_over. Qed.

Lemma zero_as_mean a f : a = mean P f -> (forall i, (i < number P)%nat -> f i = 0) -> a = 0.
Proof. intros -> H. rewrite (mean_ext _ _ (fun _ => 0)) by exact H. apply mean_const. Qed.
End As_mean.

(** Proves that a number is a client average; [plain] treats parts without averages. *)
Ltac as_mean P plain :=
  lazymatch goal with
  | |- mean P _ = _ => reflexivity
  | |- ?t = _ =>
      lazymatch t with
      | context [mean P _] =>
          lazymatch t with
          | _ + _ => apply as_mean_plus; as_mean P plain
          | _ - _ => apply as_mean_minus; as_mean P plain
          | - _ => apply as_mean_opp; as_mean P plain
          | _ / _ => apply as_mean_over; as_mean P plain
          | ?a * _ => lazymatch a with context [mean P _] => apply as_mean_times | _ => apply as_mean_scale end; as_mean P plain
          end
      | _ => plain ()
      end
  end.

Ltac as_one_mean S plain :=
  eapply (zero_as_mean (step_clients S)); [as_mean (step_clients S) plain | intros ? ?; cbv beta].

Ltac by_itself := symmetry; apply mean_const.

(** The same for averages over the participants of an outcome. *)
Ltac by_weights := match goal with D : draws _, s : nat |- _ => symmetry; apply (mean_weight _ D) with (s := s); assumption end.

(** Expectations for one client: fresh noise has expectation zero, and vectors of the past are their own
    expectations. *)
Ltac of_client :=
  try match goal with
  | G : conditional_mean ?S ?past ?expected, U : unbiased_round ?S ?past |- _ =>
      pose proof (unbiased_start S past U);
      rewrite ?(noise_total_expected S past expected G U), ?(noise_expected S past expected G U) by assumption;
      rewrite ?(expected_of_past S past expected G) by in_past
  end;
  try match goal with N : normalised_steps _ |- _ => rewrite ?N | N : common_steps _ |- _ => rewrite ?N end;
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
  lazymatch goal with
  | S : round |- context [mean _ _] =>
      first
        [ solve [as_one_mean S ltac:(fun _ => by_itself); of_client]
        | solve [as_one_mean S ltac:(fun _ => by_weights); of_client]
        | solve [match goal with B : small_step_optimum ?S ?x |- _ => apply (small_step_gradients S x); assumption end] ]
  | _ => of_client
  end.

(** Proves equations between numbers. *)
Ltac by_number :=
  match goal with
  | N : normalised_steps ?S |- size_of_client ?S _ = _ => apply N
  | U : uniform_draws _ |- mean (outcomes _) (fun s => participates _ s _) = _ => apply (one_drawn _ U); assumption
  | U : uniform_draws _, H : uniform_shares _ |- _ * mean _ _ = _ => apply participants_by_mean; assumption
  | U : uniform_draws _, H : uniform_shares _ |- mean (outcomes _) _ = _ => apply two_of_them; assumption
  | |- context [participates ?D ?s ?i] => unfold participates; destruct (is_drawn D s i); ring
  end.

(** The average of the participants' vectors, and its deviation from its expectation. *)
Section Variances.
Context (A : round) (D : draws (step_clients A)) (uniform_D : uniform_draws D).
Context (uniform_C : uniform_shares A) (several : 2 <= M A).
Notation V := (step_space A).
Notation C := (step_clients A).
Notation L := (participants D).

(** The factor (L - 1)/(K - 1), and that of the deviations between clients in the mean square. *)
Definition left_of_differences : R := (M A - L) / (L * (M A - 1)).

Lemma sum_of_pairs n (x y : nat -> V) :
  dot (vsum n x) (vsum n y) = sum n (fun i => sum n (fun j => dot (x i) (y j))).
Proof.
  rewrite dot_vsum. apply sum_ext. intros i _. rewrite dot_comm, dot_vsum. apply sum_ext. intros. apply dot_comm.
Qed.

Lemma mean_of_total (P : clients) n f : mean P (fun s => sum n (f s)) = sum n (fun i => mean P (fun s => f s i)).
Proof. apply mean_swap. Qed.

Lemma drawn_products (x y : nat -> V) :
  mean (outcomes D) (fun s => dot (selected A D x s) (selected A D y s))
  = dot (vmean C x) (vmean C y)
    + left_of_differences * (mean C (fun i => dot (x i) (y i)) - dot (vmean C x) (vmean C y)).
Proof.
  pose proof (participants_large A D) as HL. pose proof (clients_at_least_one A) as HM.
  set (K := number C). set (two := L * (L - 1) / (M A * (M A - 1))). set (one := L / M A).
  assert (pairs : forall i j, (i < K)%nat -> (j < K)%nat ->
    mean (outcomes D) (fun s => participates D s i * participates D s j) = two + (if Nat.eq_dec i j then one - two else 0)).
  { intros i j Hi Hj. destruct (Nat.eq_dec i j) as [<- | apart].
    - rewrite (mean_ext _ _ (fun s => participates D s i)).
      + rewrite (one_drawn D uniform_D i Hi). unfold one, M. ring.
      + intros s _. unfold participates. destruct (is_drawn D s i); ring.
    - rewrite (two_drawn D uniform_D i j Hi Hj apart). unfold two, M. ring. }
  transitivity (sum K (fun i => sum K (fun j =>
    mean (outcomes D) (fun s => participates D s i * participates D s j) * (/ L * / L * dot (x i) (y j))))).
  { rewrite (mean_ext _ _ (fun s => sum K (fun i => sum K (fun j =>
      participates D s i * participates D s j * (/ L * / L * dot (x i) (y j)))))).
    - rewrite mean_of_total. apply sum_ext; intros i _. rewrite mean_of_total. apply sum_ext; intros j _.
      rewrite (mean_ext _ _ (fun s => (/ L * / L * dot (x i) (y j)) * (participates D s i * participates D s j))) by (intros; ring).
      rewrite mean_scale. ring.
    - intros s _. unfold selected. rewrite sum_of_pairs. apply sum_ext; intros i _. apply sum_ext; intros j _.
      rewrite dot_scale, (dot_comm _ (x i)), dot_scale, (dot_comm _ (y j)). field. lra. }
  transitivity (/ L * / L * (two * sum K (fun i => sum K (fun j => dot (x i) (y j))) + (one - two) * sum K (fun i => dot (x i) (y i)))).
  { rewrite <- !sum_scale, <- sum_plus, <- sum_scale. apply sum_ext; intros i Hi.
    rewrite <- !sum_scale.
    transitivity (sum K (fun j => / L * / L * (two * dot (x i) (y j)))
      + sum K (fun j => if Nat.eq_dec i j then / L * / L * ((one - two) * dot (x i) (y j)) else 0)).
    - rewrite <- sum_plus. apply sum_ext; intros j Hj. rewrite (pairs i j Hi Hj). destruct (Nat.eq_dec i j); ring.
    - rewrite (sum_single K (fun j => if Nat.eq_dec i j then _ else 0) i Hi).
      + destruct (Nat.eq_dec i i); [| contradiction]. rewrite sum_scale, sum_scale. ring.
      + intros j _ other. destruct (Nat.eq_dec i j); [congruence | reflexivity]. }
  assert (of_mean : dot (vmean C x) (vmean C y) = / M A * / M A * sum K (fun i => sum K (fun j => dot (x i) (y j)))).
  { unfold vmean. fold K. rewrite sum_of_pairs, <- !sum_scale. apply sum_ext; intros i Hi. rewrite <- !sum_scale.
    apply sum_ext; intros j Hj. rewrite dot_scale, (dot_comm _ (x i)), dot_scale, (dot_comm _ (y j)).
    rewrite (uniform_C i Hi), (uniform_C j Hj). unfold M. ring. }
  assert (of_squares : mean C (fun i => dot (x i) (y i)) = / M A * sum K (fun i => dot (x i) (y i))).
  { unfold mean. rewrite <- sum_scale. apply sum_ext; intros i Hi. rewrite (uniform_C i Hi). reflexivity. }
  rewrite of_mean, of_squares. unfold left_of_differences, one, two. field. repeat split; lra.
Qed.

(** Vlaski & Sayed (2023), Lemma 5.1: a client's vector is the sum of a known part and its own noise. *)
Context (past : V -> Prop) (fresh : unbiased A past) (x p n : nat -> V).
Context (parts : forall i w, dot (x i) w = dot (p i) w + dot (n i) w).
Context (known : forall i, past (p i)).
Context (noise_fresh : forall i v, (i < number C)%nat -> past v -> dot (n i) v = 0).
Context (noise_of_others : forall i j, (i < number C)%nat -> (j < number C)%nat -> i <> j -> dot (n i) (n j) = 0).

Lemma mean_square_of_parts : mean C (fun i => ‖x i‖²) = mean C (fun i => ‖p i‖²) + mean C (fun i => ‖n i‖²).
Proof.
  rewrite <- mean_plus. apply mean_ext. intros i Hi.
  rewrite parts, (dot_comm _ (p i)), (dot_comm _ (n i)), !parts, (dot_comm _ (p i) (n i)).
  rewrite (noise_fresh i (p i) Hi (known i)). ring.
Qed.

Lemma mean_of_parts v : past v -> dot (vmean C x) v = dot (vmean C p) v.
Proof.
  intros Hv. rewrite !dot_vmean. apply mean_ext. intros i Hi. rewrite parts, (noise_fresh i v Hi Hv). ring.
Qed.

Lemma square_of_mean : ‖vmean C x‖² = ‖vmean C p‖² + / M A * mean C (fun i => ‖n i‖²).
Proof.
  assert (past_p : past (vmean C p)) by (apply (past_vmean A past fresh); exact known).
  rewrite dot_vmean. rewrite (mean_ext _ _ (fun i => dot (p i) (vmean C x) + / M A * ‖n i‖²)).
  - rewrite mean_plus, mean_scale. rewrite <- dot_vmean. f_equal.
    rewrite dot_comm. apply mean_of_parts; assumption.
  - intros i Hi. rewrite parts. f_equal. rewrite dot_comm, dot_vmean. unfold mean. rewrite (sum_single _ _ i Hi).
    + rewrite parts, (dot_comm _ (p i)), (noise_fresh i (p i) Hi (known i)), (uniform_C i Hi). unfold M. ring.
    + intros j Hj other. rewrite parts, (dot_comm _ (p j)), (noise_fresh i (p j) Hi (known j)).
      rewrite (noise_of_others j i Hj Hi other). ring.
Qed.

Lemma spread_of_known : mean C (fun i => ‖p i - vmean C p‖²) = mean C (fun i => ‖p i‖²) - ‖vmean C p‖².
Proof.
  rewrite (mean_ext _ _ (fun i => ‖p i‖² - 2 * dot (p i) (vmean C p) + ‖vmean C p‖²)).
  - rewrite mean_plus, mean_minus, mean_scale, <- dot_vmean, mean_const. ring.
  - intros i _. rewrite dot_minus, (dot_comm _ (p i)), (dot_comm _ (vmean C p)), !dot_minus.
    rewrite (dot_comm _ (vmean C p) (p i)). ring.
Qed.

Lemma drawn_square a c : past a ->
  mean (outcomes D) (fun s => ‖a + c • selected A D x s‖²)
  = ‖a + c • vmean C p‖² + c ^ 2 * (1 / L * mean C (fun i => ‖n i‖²)
      + left_of_differences * mean C (fun i => ‖p i - vmean C p‖²)).
Proof.
  intros Ha. pose proof (participants_large A D) as HL.
  assert (expanded : forall v : V, ‖a + c • v‖² = ‖a‖² + 2 * c * dot v a + c ^ 2 * ‖v‖²).
  { intros v. rewrite dot_plus, (dot_comm _ a), (dot_comm _ (scale c v)), !dot_plus, !dot_scale.
    rewrite (dot_comm _ a (scale c v)), (dot_comm _ v (scale c v)), !dot_scale. ring. }
  rewrite (mean_ext _ _ (fun s => ‖a‖² + 2 * c * dot (selected A D x s) a + c ^ 2 * ‖selected A D x s‖²)) by (intros; apply expanded).
  rewrite !mean_plus, !mean_scale, mean_const, (mean_of_selected A D uniform_D uniform_C), drawn_products, expanded.
  rewrite <- dot_vmean, (mean_of_parts a Ha), square_of_mean, mean_square_of_parts, spread_of_known.
  unfold left_of_differences. field. repeat split; lra.
Qed.
End Variances.

(** Jensen for the steps of a round: the square of an average is at most the average of the squares. *)
Section Steps.
Context (A : round).
Notation V := (step_space A).

Lemma deviations_of_steps (f : nat -> nat -> V) i :
  0 <= local_total A (fun e i => ‖f e i‖²) i - E_of A i * ‖(1 / E_of A i) • local_sum A f i‖².
Proof.
  set (m := scale (1 / E_of A i) (local_sum A f i)). pose proof (E_large A i) as HE.
  assert (of_sum : forall w, dot (local_sum A f i) w = E_of A i * dot m w).
  { intros w. unfold m. rewrite dot_scale. field. lra. }
  assert (H : 0 <= sum (steps_of_client A i) (fun e => ‖f e i - m‖²)) by (apply sum_nonneg; intros; apply dot_self).
  rewrite (sum_ext _ _ (fun e => ‖f e i‖² - 2 * dot (f e i) m + ‖m‖²)) in H.
  - rewrite sum_plus, sum_minus, sum_scale, sum_const, <- dot_local_sum, of_sum in H.
    unfold local_total, E_of in *. lra.
  - intros e _. rewrite dot_minus, (dot_comm _ (f e i)), (dot_comm _ m), !dot_minus, (dot_comm _ m (f e i)). ring.
Qed.

(** Condition 5.1: gradients of samples are Lipschitz in mean square. *)
Definition mean_square_smooth_steps (bound : nat -> R) : Prop := forall e i, (i < number (step_clients A))%nat ->
  ‖sample A e i - sample_at_start A e i‖² <= bound i ^ 2 * ‖iterate A e i - server_model A‖².

Lemma smoothness_of_steps bound i : mean_square_smooth_steps bound -> (i < number (step_clients A))%nat ->
  0 <= bound i ^ 2 * local_total A (fun e i => ‖iterate A e i - server_model A‖²) i
       - local_total A (fun e i => ‖sample A e i - sample_at_start A e i‖²) i.
Proof.
  intros H Hi. unfold local_total. rewrite <- sum_scale, <- sum_minus. apply sum_nonneg.
  intros e _. pose proof (H e i Hi). lra.
Qed.

(** The deviations of the clients' results from their expectations are independent between clients. *)
Definition independent_results (expected : V -> V) : Prop := forall i j,
  (i < number (step_clients A))%nat -> (j < number (step_clients A))%nat -> i <> j ->
  ⟨local_result A i - expected (local_result A i), local_result A j - expected (local_result A j)⟩ = 0.
End Steps.

(** The samples at the start of a round: the noise of all steps of a client, and its variance. *)
Section Starts.
Context (A : round) (past : step_space A -> Prop) (fresh : unbiased_round A past).
Notation V := (step_space A).
Notation C := (step_clients A).

Definition start_noise (i : nat) : V := local_sum A (noise_at_start A) i.
Definition start_variance (i : nat) : R := local_total A (fun e i => ‖noise_at_start A e i‖²) i.

(** (5.28) for the samples at the server's model. *)
Definition variance_at_start (w : nat -> V) (beta sigma : nat -> R) : Prop := forall e i, (i < number C)%nat ->
  ‖noise_at_start A e i‖² <= beta i ^ 2 * ‖w i - server_model A‖² + sigma i ^ 2.

Lemma start_noise_fresh i v : (i < number C)%nat -> past v -> dot (start_noise i) v = 0.
Proof.
  intros Hi Hv. unfold start_noise. rewrite dot_local_sum, (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros e _. apply (start_fresh A past fresh); assumption.
Qed.

Lemma start_noise_of_others i j : (i < number C)%nat -> (j < number C)%nat -> i <> j ->
  dot (start_noise i) (start_noise j) = 0.
Proof.
  intros Hi Hj apart. unfold start_noise. rewrite dot_local_sum, (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros e _. rewrite dot_comm, dot_local_sum, (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros f _. apply (start_of_others A past fresh); auto.
Qed.

Lemma start_noise_square i : (i < number C)%nat -> ‖start_noise i‖² = start_variance i.
Proof.
  intros Hi. unfold start_noise, start_variance, local_total. rewrite dot_local_sum. apply sum_ext. intros e He.
  rewrite dot_comm, dot_local_sum. apply (sum_single _ (fun f => dot (noise_at_start A f i) (noise_at_start A e i)) e He).
  intros f _ other. apply (start_of_other_steps A past fresh); auto.
Qed.

Lemma start_noise_past i v : (i < number C)%nat -> past v -> dot v (start_noise i) = 0.
Proof. intros. rewrite dot_comm. apply start_noise_fresh; assumption. Qed.

(** The mean square of a multiple of the noise at the start. *)
Lemma square_of_start_noise u c i : (i < number C)%nat -> (forall w, dot u w = c * dot (start_noise i) w) ->
  ‖u‖² = c ^ 2 * start_variance i.
Proof.
  intros Hi H. rewrite H, (dot_comm _ (start_noise i)), H, (start_noise_square i Hi). ring.
Qed.

Lemma variance_of_start w beta sigma i : variance_at_start w beta sigma -> (i < number C)%nat ->
  0 <= E_of A i * (beta i ^ 2 * ‖w i - server_model A‖² + sigma i ^ 2) - start_variance i.
Proof.
  intros H Hi. unfold start_variance, local_total, E_of. rewrite <- sum_const, <- sum_minus. apply sum_nonneg.
  intros e _. pose proof (H e i Hi). lra.
Qed.

Context (D : draws C) (uniform_D : uniform_draws D) (uniform_C : uniform_shares A) (several : 2 <= M A).

(** Lemma 5.1 for the participants' gradients at the start of the round. *)
Lemma drawn_gradient (u : nat -> V) (x : nat -> V) a c : past a ->
  (forall s w, dot (u s) w = dot a w + c * dot (selected A D x s) w) ->
  (forall i w, dot (x i) w = dot (grad (client_objective A i) (server_model A)) w + 1 / E_of A i * dot (start_noise i) w) ->
  mean (outcomes D) (fun s => ‖u s‖²)
  = ‖a + c • grad (F A) (server_model A)‖² + c ^ 2 * (1 / participants D * mean C (fun i => (1 / E_of A i) ^ 2 * start_variance i)
      + left_of_differences A D * mean C (fun i => ‖grad (client_objective A i) (server_model A) - grad (F A) (server_model A)‖²)).
Proof.
  intros Ha Hu Hx. pose proof (unbiased_start A past fresh) as U.
  rewrite (mean_ext _ _ (fun s => ‖a + c • selected A D x s‖²)).
  - rewrite (drawn_square A D uniform_D uniform_C several past U x (fun i => grad (client_objective A i) (server_model A))
      (fun i => (1 / E_of A i) • start_noise i)%vec); auto.
    + change (vmean C (fun i => grad (client_objective A i) (server_model A))) with (grad (F A) (server_model A)).
      f_equal. f_equal. f_equal. f_equal. apply mean_ext. intros i Hi.
      apply square_of_start_noise; auto. intros w. apply dot_scale.
    + intros i w. rewrite Hx, dot_scale. reflexivity.
    + intros i. apply (past_gradient _ _ U), (past_server _ _ U).
    + intros i v Hi Hv. rewrite dot_scale, (start_noise_fresh i v Hi Hv). ring.
    + intros i j Hi Hj apart. rewrite dot_scale, dot_comm, dot_scale, (start_noise_of_others j i); auto. ring.
  - intros s _. assert (E : forall w, dot (u s) w = dot (a + c • selected A D x s)%vec w).
    { intros w. rewrite Hu, dot_plus, dot_scale. reflexivity. }
    rewrite E, (dot_comm _ (plus a _)), E. reflexivity.
Qed.
End Starts.

Lemma participants_at_most (A : round) (D : draws (step_clients A)) : uniform_draws D -> participants D <= M A.
Proof.
  intros U. rewrite <- (participants_in_all D U O (several (outcomes D))).
  apply Rle_trans with (sum (number (step_clients A)) (fun _ => 1)).
  - apply sum_le. intros i _. unfold participates. destruct (is_drawn D O i); lra.
  - rewrite sum_const. unfold M. lra.
Qed.

(** Proves equations between sums of inner products, which are expanded and compared for each client. *)
Lemma dot_plus_right {V : space} (u v w : V) : dot w (plus u v) = dot w u + dot w v.
Proof. rewrite !(dot_comm V w). apply dot_plus. Qed.

Lemma dot_minus_right {V : space} (u v w : V) : dot w (minus u v) = dot w u - dot w v.
Proof. rewrite !(dot_comm V w). apply dot_minus. Qed.

Lemma dot_scale_right {V : space} a (u w : V) : dot w (scale a u) = a * dot w u.
Proof. rewrite !(dot_comm V w). apply dot_scale. Qed.

Lemma dot_zero_right {V : space} (w : V) : dot w zero = 0.
Proof. rewrite dot_comm. apply dot_zero. Qed.

Ltac dots_expanded :=
  repeat first
    [ rewrite dot_minus | rewrite dot_plus | rewrite dot_scale | rewrite dot_zero
    | rewrite dot_minus_right | rewrite dot_plus_right | rewrite dot_scale_right | rewrite dot_zero_right ].

Ltac is_composite u := lazymatch u with plus _ _ => idtac | minus _ _ => idtac | scale _ _ => idtac | zero => idtac end.

(** Expands each product separately, which takes less time than the whole sum. *)
Ltac expanded :=
  repeat match goal with H : minimiser _ ?x |- _ => rewrite ?(proj1 H); clear H end;
  repeat match goal with H : forall i, grad _ (?w i) = zero |- _ => rewrite ?H; clear H end;
  repeat match goal with
  | |- context [dot ?u ?v] =>
      first [is_composite u | is_composite v];
      let whole := fresh in let parts := fresh in
      evar (parts : R); assert (whole : dot u v = parts); [dots_expanded; subst parts; reflexivity |];
      subst parts; rewrite !whole; clear whole
  end.

(** Proves the premises of [drawn_square] if the participants' vectors are results, their expectations, or
    minimisers. *)
Ltac by_parts :=
  try match goal with U : unbiased_round ?S ?past |- _ => pose proof (unbiased_start S past U) end;
  intros;
  first
    [ assumption
    | solve [unfold minus; in_past; match goal with G : conditional_mean ?S ?past ?e |- _ => apply (expected_past S past e G) end]
    | solve [apply dot_zero | rewrite ?dot_minus, ?dot_zero; ring]
    | match goal with G : conditional_mean ?S ?past ?e |- _ => apply (expected_rest S past e G); assumption end
    | match goal with H : independent_results _ _ |- _ => apply H; assumption end ].

Ltac sorted_dots :=
  repeat match goal with
  | |- context [dot ?u ?v] =>
      match goal with |- context [dot v u] => tryif constr_eq u v then fail else rewrite (dot_comm _ v u) end
  end.

Ltac by_expansion :=
  apply Rminus_diag_uniq; unfold left_of_differences; rewrite ?vmean_const;
  lazymatch goal with
  | S : round |- context [mean _ _] => as_one_mean S ltac:(fun _ => by_itself)
  | _ => idtac
  end;
  expanded; sorted_dots; of_client.

(** Proves that a number is not negative by the signs of its parts. *)
Ltac of_signs :=
  repeat first
    [ assumption | lra | apply quotient_nonneg | apply pow2_ge_0 | apply pow_le
    | apply Rmult_le_pos | apply Rplus_le_le_0_compat | solve [positive] ].
