(** Runs of a server whose clients may work on old models, and count with random weights.

    Fraboni et al. (2022), Section 2: the aggregation scheme (6), its virtual iterates (7), and the objectives that it
    optimises, (9) to (12). *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives.
Require Run Schedule.
Open Scope R_scope.

(** In update n client i has rho_i(n) as the update whose model it works on.  [weighed n i v] is omega_i(n) v: a random
    weight times a vector, with q_i(n) = E omega_i(n).  Clients of one type have one objective; a type is called by its
    first client. *)
Record server := {
  space_of : space;
  clients_of : clients;
  objective_of : nat -> objective space_of;
  type_of : nat -> nat;
  updates : nat;
  steps : nat;
  local_size : R;
  server_size : R;
  received_at : nat -> nat -> nat;
  noise_of : nat -> nat -> nat -> space_of;
  weighed : nat -> nat -> space_of -> space_of;
  expected_weight : nat -> nat -> R;
  model : nat -> space_of;
  some_updates : (0 < updates)%nat;
  some_steps : (0 < steps)%nat;
  local_size_positive : 0 < local_size;
  server_size_positive : 0 < server_size;
  not_from_later : forall n i, (received_at n i <= n)%nat;
  expected_weight_nonneg : forall n i, (i < number clients_of)%nat -> 0 <= expected_weight n i;
  weighed_plus : forall n i u v, weighed n i (plus u v) = plus (weighed n i u) (weighed n i v);
  weighed_scale : forall n i c v, weighed n i (scale c v) = scale c (weighed n i v);
  type_in_range : forall i, (i < number clients_of)%nat -> (type_of i < number clients_of)%nat;
  type_of_type : forall i, type_of (type_of i) = type_of i;
  same_objective : forall i, objective_of (type_of i) = objective_of i }.

Section Definitions.
Context (A : server).
Notation V := (space_of A).
Notation C := (clients_of A).
Notation L_i := (objective_of A).
Notation q_i := (expected_weight A).
Notation total := (sum (number C)).

Definition M_of : R := INR (number C).
Definition N_of : R := INR (updates A).
Definition K_of : R := INR (steps A).

(** theta_i^{rho_i(n),k}, from theta^{rho_i(n)}; the sample there; and what client i sends to update n. *)
Fixpoint local (n k i : nat) : V :=
  match k with
  | O => model A (received_at A n i)
  | S k => let x := local n k i in (x - local_size A • (grad (L_i i) x + noise_of A n k i))%vec
  end.
Definition sample (n k i : nat) : V := (grad (L_i i) (local n k i) + noise_of A n k i)%vec.
Definition change (n i : nat) : V := (local n (steps A) i - model A (received_at A n i))%vec.

(** (6): the server adds the weighed changes. *)
Definition aggregation_scheme : Prop := forall n,
  model A (S n) = (model A n + server_size A • vsum (number C) (fun i => weighed A n i (change n i)))%vec.

(** (7): theta^{n,k}. *)
Fixpoint virtual (n k : nat) : V :=
  match k with
  | O => model A n
  | S k => (virtual n k -
      (server_size A * local_size A) • vsum (number C) (fun i => weighed A n i (sample n k i)))%vec
  end.

(** q(n), the shares of an update, and the mean weights q_i; (9): L^n, and the surrogate objective. *)
Definition weight_sum (n : nat) : R := total (q_i n).
Definition weight_share (n i : nat) : R := q_i n i / weight_sum n.
Definition mean_over_updates (f : nat -> R) : R := 1 / N_of * sum (updates A) f.
Definition mean_over_steps (f : nat -> R) : R := 1 / K_of * sum (steps A) f.
Definition mean_weight (i : nat) : R := mean_over_updates (fun n => q_i n i).
Definition smallest_weight_sum : R := Schedule.smallest (updates A) weight_sum.
Definition sum_objective (weight : nat -> R) : objective V :=
  {| value := fun x => total (fun i => value (L_i i) x * weight i);
     grad := fun x => vsum (number C) (fun i => weight i • grad (L_i i) x)%vec |}.
Definition round_objective (n : nat) : objective V := sum_objective (q_i n).
Definition surrogate : objective V := sum_objective mean_weight.
Definition federated : objective V := sum_objective (share C).
Definition minimiser (f : objective V) (x : V) : Prop := ‖grad f x‖² = 0 /\ forall y, value f x <= value f y.

(** r_j, s_j(n) and s_j(n)/q(n), at the first client of the type, and zero at others; no update is empty (q(n) > 0). *)
Definition of_type (weight : nat -> R) (j : nat) : R :=
  total (fun i => if Nat.eqb (type_of A i) j then weight i else 0).
Definition type_importance : nat -> R := of_type (share C).
Definition type_weight (n : nat) : nat -> R := of_type (q_i n).
Definition type_share (n j : nat) : R := type_weight n j / weight_sum n.
Definition no_empty_update : Prop := forall n, (n < updates A)%nat -> 0 < weight_sum n.
Definition fair_types : Prop := no_empty_update /\ forall n j, (n < updates A)%nat -> (j < number C)%nat ->
  type_share n j = type_importance j.
(** Where the server waits for everybody it selects, every update has the same expected weights. *)
Definition synchronous : Prop := forall n m i, q_i n i = q_i m i.

Definition one_type : Prop := forall i j, (i < number C)%nat -> (j < number C)%nat -> type_of A i = type_of A j.
Definition positive_importances : Prop := forall i, (i < number C)%nat -> 0 < share C i.

(** Assumption 6: W updates after which each client has the same sum of weights, and the least such number. *)
Definition is_window (W : nat) : Prop := (0 < W)%nat /\ exists blocks, updates A = (W * blocks)%nat /\
  forall b i, (b < blocks)%nat -> (i < number C)%nat ->
    sum W (fun n => q_i (b * W + n)%nat i) = sum W (fun n => q_i n i).
Definition smallest_window (W : nat) : Prop := is_window W /\ forall other, is_window other -> (W <= other)%nat.

(** B: the largest gradients of the clients at their iterates and at the virtual ones. *)
Definition full_gradient_bound : R := sqrt (Run.largest (updates A) (fun n => Run.largest (steps A) (fun k =>
  Run.largest (number C) (fun i => Rmax ‖grad (L_i i) (virtual n k)‖² ‖grad (L_i i) (local n k i)‖²)))).

(** Of types with a share, how far that is from their importance: chi_n^2, and chi^2 for the shares over all updates. *)
Definition misfit (shares : nat -> R) : R := total
  (fun j => if Req_EM_T (shares j) 0 then 0 else (type_importance j - shares j) ^ 2 / shares j).
Definition chi_sq (n : nat) : R := misfit (type_share n).
Definition mean_weight_sum : R := total mean_weight.
Definition mean_type_share (j : nat) : R := of_type mean_weight j / mean_weight_sum.
Definition mean_chi_sq : R := misfit mean_type_share.
Definition absences : R := sum (updates A) (fun n => total
  (fun j => if Nat.eqb (type_of A j) j then if Req_EM_T (type_weight n j) 0 then 1 else 0 else 0)).
(** What the types lose at x beside their own optima, each with its share or, if it has none, its importance. *)
Definition misrepresentation (own : nat -> V) (bar_n : nat -> V) (n : nat) : R := total
  (fun j => type_share n j * (value (L_i j) (bar_n n) - value (L_i j) (own j))).
Definition mean_misrepresentation (own bar_n : nat -> V) : R :=
  mean_over_updates (fun n => chi_sq n * misrepresentation own bar_n n).
Definition unrepresented_gap (own : nat -> V) (n : nat) : R := mean_over_steps (fun k => total
  (fun j => if Req_EM_T (type_weight n j) 0
    then type_importance j * (value (L_i j) (virtual n k) - value (L_i j) (own j)) else 0)).
Definition mean_unrepresented_gap (own : nat -> V) : R := mean_over_updates (unrepresented_gap own).

(** S(n, k), and what (69) makes of sums of it. *)
Definition step_square (n k : nat) : R := total (fun i => ‖sample n k i‖² * weight_share n i).
Definition mean_square_gradient (n : nat) : R := mean_over_steps (step_square n).
Definition past_sum_of_sums (n : nat) : R := sum (steps A) (fun k => sum k (step_square n)).
Definition weighted_past_sum (n : nat) : R := sum (steps A) (fun k => INR k * sum k (step_square n)).
Definition sum_without_last (n : nat) : R := sum (pred (steps A)) (step_square n).

Section At_optima.
Context (bar star : V) (bar_n : nat -> V).

Definition residual : R := mean_over_updates (fun n => value (round_objective n) bar - value (round_objective n) (bar_n n)).
Definition round_gap (n : nat) : R :=
  mean_over_steps (fun k => value (round_objective n) (virtual n k) - value (round_objective n) (bar_n n)).
Definition surrogate_gap (n : nat) : R :=
  mean_over_steps (fun k => value (round_objective n) (virtual n k) - value (round_objective n) bar).
Definition mean_round_gap : R := mean_over_updates round_gap.
Definition mean_surrogate_gap : R := mean_over_updates surrogate_gap.
Definition virtual_suboptimality (n : nat) : R :=
  mean_over_steps (fun k => value federated (virtual n k) - value federated star).
Definition distance_sq (x : V) (n k : nat) : R := ‖virtual n k - x‖².
Definition server_distance_sq (x : V) (n : nat) : R := ‖model A n - x‖².
Definition progress (n : nat) : R := mean_over_steps (fun k => distance_sq bar n (S k) - distance_sq bar n k).
Definition mean_progress : R := mean_over_updates progress.
Definition initial_distance : R := length (model A O - bar)%vec.
End At_optima.

Lemma K_at_least_one : 1 <= K_of.
Proof. unfold K_of. replace 1 with (INR 1) by reflexivity. apply le_INR. pose proof (some_steps A). lia. Qed.

Lemma N_at_least_one : 1 <= N_of.
Proof. unfold N_of. replace 1 with (INR 1) by reflexivity. apply le_INR. pose proof (some_updates A). lia. Qed.

Lemma M_at_least_one : 1 <= M_of.
Proof. apply number_ge_1. Qed.

Lemma sum_of_ones : total (fun i => 1) = M_of.
Proof. rewrite sum_const. unfold M_of. ring. Qed.

(** The virtual iterate starts at the server's model, and ends where that goes. *)
Lemma virtual_starts x n : distance_sq x n O - server_distance_sq x n = 0.
Proof. unfold distance_sq, server_distance_sq. cbn [virtual]. ring. Qed.

Lemma weighed_zero n i w : dot (weighed A n i zero) w = 0.
Proof. rewrite <- (scale_zero V zero), weighed_scale, dot_scale. ring. Qed.

Lemma dot_change n k i w : dot (weighed A n i (local n k i - model A (received_at A n i))%vec) w
  = - local_size A * sum k (fun l => dot (weighed A n i (sample n l i)) w).
Proof.
  induction k as [| k IH]; cbn [local sum].
  - unfold minus. rewrite weighed_plus, weighed_scale, dot_plus, dot_scale. ring.
  - cbv zeta in *. fold (sample n k i). unfold minus in *.
    rewrite !weighed_plus, !weighed_scale, !dot_plus, !dot_scale in *. rewrite Rmult_plus_distr_l, <- IH. ring.
Qed.

Lemma dot_virtual n k w : dot (virtual n k) w = dot (model A n) w
  - server_size A * local_size A * sum k (fun l => total (fun i => dot (weighed A n i (sample n l i)) w)).
Proof.
  induction k as [| k IH]; cbn [virtual sum]; [ring |]. rewrite dot_minus, dot_scale, dot_vsum, IH. ring.
Qed.

Lemma virtual_ends x n : aggregation_scheme -> distance_sq x n (steps A) - server_distance_sq x (S n) = 0.
Proof.
  intros scheme. apply Rminus_diag_eq. unfold distance_sq, server_distance_sq.
  assert (H : forall w, dot (virtual n (steps A) - x)%vec w = dot (model A (S n) - x)%vec w).
  { intros w. rewrite !dot_minus, dot_virtual, scheme, dot_plus, dot_scale, dot_vsum.
    rewrite (sum_ext _ (fun i => dot (weighed A n i (change n i)) w)
      (fun i => - local_size A * sum (steps A) (fun l => dot (weighed A n i (sample n l i)) w)))
      by (intros; apply dot_change).
    rewrite sum_scale, sum_swap. ring. }
  rewrite H, (dot_comm V _ (virtual n (steps A) - x)%vec), H. reflexivity.
Qed.

Lemma telescoped bar : aggregation_scheme ->
  K_of * N_of * mean_progress bar - server_distance_sq bar (updates A) + initial_distance bar ^ 2 = 0.
Proof.
  intros scheme. unfold mean_progress, mean_over_updates.
  rewrite (sum_ext _ _ (fun n => / K_of * -1 * (server_distance_sq bar n - server_distance_sq bar (S n)))).
  - rewrite sum_scale, (sum_telescope _ (server_distance_sq bar)).
    replace (initial_distance bar ^ 2) with (server_distance_sq bar O)
      by (unfold initial_distance; rewrite <- Rsqr_pow2; unfold Rsqr; rewrite length_square; reflexivity).
    pose proof K_at_least_one. pose proof N_at_least_one. field. lra.
  - intros n _. unfold progress, mean_over_steps.
    rewrite (sum_ext _ _ (fun k => -1 * (distance_sq bar n k - distance_sq bar n (S k)))) by (intros; ring).
    rewrite sum_scale, (sum_telescope _ (distance_sq bar n)).
    pose proof (virtual_starts bar n). pose proof (virtual_ends bar n scheme).
    replace (distance_sq bar n 0) with (server_distance_sq bar n) by lra.
    replace (distance_sq bar n (steps A)) with (server_distance_sq bar (S n)) by lra. unfold Rdiv. ring.
Qed.

Lemma server_distance_nonneg x n : 0 <= server_distance_sq x n.
Proof. apply dot_self. Qed.

(** A sum of objectives has no slope where it is least. *)
Lemma no_slope f x : minimiser f x -> ‖grad f x‖² = 0.
Proof. intros [H _]. exact H. Qed.

Lemma no_sum_is_smaller n : (n < updates A)%nat -> 0 <= weight_sum n - smallest_weight_sum.
Proof. intros Hn. pose proof (Schedule.smallest_at_most _ weight_sum n Hn). unfold smallest_weight_sum. lra. Qed.

(** (10) and (12). *)
Lemma mean_of_objectives x :
  total (fun i => value (L_i i) x * mean_weight i) - mean_over_updates (fun n => value (round_objective n) x) = 0.
Proof.
  apply Rminus_diag_eq. unfold mean_over_updates, mean_weight. cbn [value round_objective sum_objective].
  rewrite <- sum_swap, <- sum_scale. apply sum_ext. intros i _. unfold mean_over_updates.
  rewrite sum_scale. ring.
Qed.

Lemma sum_over_types f w : (forall i, (i < number C)%nat -> f (type_of A i) = f i) ->
  total (fun j => f j * of_type w j) = total (fun i => f i * w i).
Proof.
  intros same. unfold of_type.
  rewrite (sum_ext _ _ (fun j => total (fun i => if Nat.eqb (type_of A i) j then f j * w i else 0))).
  - rewrite sum_swap. apply sum_ext. intros i Hi. rewrite (sum_single _ _ (type_of A i)).
    + rewrite Nat.eqb_refl, (same i Hi). reflexivity.
    + apply type_in_range. assumption.
    + intros j _ other. destruct (Nat.eqb_spec (type_of A i) j); [lia | reflexivity].
  - intros j _. rewrite <- sum_scale. apply sum_ext. intros i _. destruct (Nat.eqb (type_of A i) j); ring.
Qed.

Lemma values_over_types x w : total (fun j => value (L_i j) x * of_type w j) = value (sum_objective w) x.
Proof. apply (sum_over_types (fun j => value (L_i j) x)). intros. rewrite same_objective. reflexivity. Qed.

Lemma surrogate_by_values x : - value surrogate x + total (fun i => value (L_i i) x * mean_weight i) = 0.
Proof. cbn [value surrogate sum_objective]. ring. Qed.

Lemma federated_by_types x : - value federated x + total (fun i => value (L_i i) x * type_importance i) = 0.
Proof. unfold type_importance. rewrite values_over_types. unfold federated. ring. Qed.

Lemma update_by_types n x : - value (round_objective n) x + total (fun i => value (L_i i) x * type_weight n i) = 0.
Proof. unfold type_weight. rewrite values_over_types. unfold round_objective. ring. Qed.

Lemma share_of_weight n i : no_empty_update -> (n < updates A)%nat -> weight_share n i * weight_sum n - q_i n i = 0.
Proof. intros some Hn. unfold weight_share. pose proof (some n Hn). field. lra. Qed.

Lemma shares_add_up n : no_empty_update -> (n < updates A)%nat -> total (fun i => weight_share n i) - 1 = 0.
Proof.
  intros some Hn. pose proof (some n Hn). unfold weight_share.
  rewrite (sum_ext _ _ (fun i => / weight_sum n * q_i n i)) by (intros; unfold Rdiv; ring).
  rewrite sum_scale. fold (weight_sum n). field. lra.
Qed.

Lemma mean_over_updates_ext f g : (forall n, (n < updates A)%nat -> f n = g n) ->
  mean_over_updates f = mean_over_updates g.
Proof. intros H. unfold mean_over_updates. rewrite (sum_ext _ f g H). reflexivity. Qed.

Lemma mean_weights_add_up : total mean_weight = mean_over_updates weight_sum.
Proof. unfold mean_weight, mean_over_updates, weight_sum. rewrite sum_scale, sum_swap. reflexivity. Qed.

Lemma of_mean_weights j : of_type mean_weight j = mean_over_updates (fun n => type_weight n j).
Proof.
  unfold of_type, mean_over_updates, type_weight, of_type. rewrite <- sum_swap, <- sum_scale. apply sum_ext. intros i _.
  unfold mean_weight, mean_over_updates. destruct (Nat.eqb (type_of A i) j); [reflexivity |].
  rewrite sum_const. ring.
Qed.

(** L^n(theta) - min L^n, split at the optimum of the surrogate problem. *)
Lemma gaps_split bar bar_n :
  mean_round_gap bar_n - mean_surrogate_gap bar - residual bar bar_n = 0.
Proof.
  unfold mean_round_gap, mean_surrogate_gap, residual, mean_over_updates.
  rewrite <- !Rmult_minus_distr_l, <- !sum_minus.
  rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring |].
  intros n _. unfold round_gap, surrogate_gap, mean_over_steps. rewrite !sum_minus, !sum_const.
  fold K_of. pose proof K_at_least_one. field. lra.
Qed.

Lemma step_square_nonneg n k : 0 <= step_square n k.
Proof.
  assert (H : forall i, (i < number C)%nat -> 0 <= weight_share n i).
  { intros i Hi. unfold weight_share, Rdiv. pose proof (expected_weight_nonneg A n i Hi).
    assert (0 <= weight_sum n) by (apply sum_nonneg; intros; apply expected_weight_nonneg; assumption).
    destruct (Req_dec (weight_sum n) 0) as [-> |]; [rewrite Rinv_0; lra |].
    apply Rmult_le_pos; [assumption |]. apply Rlt_le, Rinv_0_lt_compat. lra. }
  apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply dot_self | auto].
Qed.

Lemma sum_grows f m k : (forall l, 0 <= f l) -> (m <= k)%nat -> sum m f <= sum k f.
Proof. intros positive. induction 1; cbn [sum]; [lra |]. pose proof (positive m0). lra. Qed.

Lemma step_numbers n : 0 <= (K_of - 1) * past_sum_of_sums n - weighted_past_sum n.
Proof.
  unfold past_sum_of_sums, weighted_past_sum. rewrite <- sum_scale, <- sum_minus. apply sum_nonneg. intros k Hk.
  rewrite <- Rmult_minus_distr_r. apply Rmult_le_pos.
  - unfold K_of. assert (INR (S k) <= INR (steps A)) by (apply le_INR; lia). rewrite S_INR in *. lra.
  - apply sum_nonneg. intros; apply step_square_nonneg.
Qed.

Lemma earlier_sums n : 0 <= (K_of - 1) * sum_without_last n - past_sum_of_sums n.
Proof.
  unfold past_sum_of_sums, sum_without_last, K_of. pose proof (some_steps A) as some.
  destruct (steps A) as [| m]; [lia |]. cbn [pred]. rewrite S_INR.
  assert (H : forall m, (forall k, (k <= m)%nat -> sum k (step_square n) <= sum m (step_square n))).
  { intros b k Hk. apply sum_grows; [apply step_square_nonneg | assumption]. }
  assert (G : forall j, (j <= m)%nat -> sum (S j) (fun k => sum k (step_square n)) <= INR j * sum m (step_square n)).
  { induction j as [| j IH]; intros Hj; [simpl; lra |].
    change (sum (S (S j)) ?f) with (sum (S j) f + f (S j)). rewrite S_INR.
    pose proof (IH ltac:(lia)). pose proof (H m (S j) ltac:(lia)). lra. }
  pose proof (G m (le_n m)). lra.
Qed.

Lemma without_last n : 0 <= K_of * mean_square_gradient n - sum_without_last n.
Proof.
  unfold mean_square_gradient, mean_over_steps, sum_without_last. pose proof K_at_least_one.
  replace (K_of * (1 / K_of * sum (steps A) (step_square n))) with (sum (steps A) (step_square n)) by (field; lra).
  pose proof (sum_grows (step_square n) (pred (steps A)) (steps A) (step_square_nonneg n) ltac:(lia)). lra.
Qed.

(** Synchronous rounds have one problem. *)
Lemma same_problem bar bar_n : synchronous -> minimiser surrogate bar ->
  (forall n, (n < updates A)%nat -> minimiser (round_objective n) (bar_n n)) -> residual bar bar_n = 0.
Proof.
  intros same [_ least] optima.
  assert (E : forall n x, value (round_objective n) x = value surrogate x).
  { intros n x. cbn [value round_objective surrogate sum_objective]. apply sum_ext. intros i _. f_equal.
    unfold mean_weight, mean_over_updates. rewrite (sum_ext _ _ (fun _ => q_i n i)) by (intros; apply same).
    rewrite sum_const. fold N_of. pose proof N_at_least_one. field. lra. }
  unfold residual, mean_over_updates. rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring |].
  intros n Hn. pose proof (proj2 (optima n Hn) bar). pose proof (least (bar_n n)). rewrite !E in *. lra.
Qed.

Lemma loss_nonneg star n : minimiser federated star -> 0 <= virtual_suboptimality star n.
Proof.
  intros [_ least]. unfold virtual_suboptimality, mean_over_steps. pose proof K_at_least_one.
  apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra |]. apply sum_nonneg. intros k _.
  pose proof (least (virtual n k)). lra.
Qed.

Lemma shares_of_importances n j : (forall i, (i < number C)%nat -> q_i n i = share C i) ->
  type_share n j - type_importance j = 0.
Proof.
  intros equal. unfold type_share, type_weight, type_importance, weight_sum.
  rewrite (sum_ext _ (q_i n) (share C) equal), share_sum. unfold of_type.
  rewrite (sum_ext _ _ (fun i => if Nat.eqb (type_of A i) j then share C i else 0)); [field |].
  intros i Hi. destruct (Nat.eqb (type_of A i) j); auto.
Qed.

(** Synchronous rounds have the same shares. *)
Lemma mean_of_same_weights n i : synchronous -> mean_weight i = q_i n i.
Proof.
  intros same. unfold mean_weight, mean_over_updates. rewrite (sum_ext _ _ (fun _ => q_i n i)) by (intros; apply same).
  rewrite sum_const. fold N_of. pose proof N_at_least_one. field. lra.
Qed.

Lemma of_type_ext w v j : (forall i, (i < number C)%nat -> w i = v i) -> of_type w j = of_type v j.
Proof. intros H. apply sum_ext. intros i Hi. destruct (Nat.eqb (type_of A i) j); auto. Qed.

Lemma misfit_ext f g : (forall j, (j < number C)%nat -> f j = g j) -> misfit f = misfit g.
Proof. intros H. apply sum_ext. intros j Hj. rewrite (H j Hj). reflexivity. Qed.

Lemma same_shares n : synchronous -> chi_sq n - mean_chi_sq = 0.
Proof.
  intros same. apply Rminus_diag_eq, misfit_ext. intros j _. unfold type_share, mean_type_share, type_weight.
  rewrite (of_type_ext mean_weight (q_i n)) by (intros; apply mean_of_same_weights; assumption).
  unfold mean_weight_sum, weight_sum. rewrite (sum_ext _ mean_weight (q_i n)); [reflexivity |].
  intros; apply mean_of_same_weights; assumption.
Qed.

Lemma window_of_same W : synchronous -> smallest_window W -> INR W - 1 = 0.
Proof.
  intros same [[positive _] least]. assert (H : is_window 1).
  { split; [lia |]. exists (updates A). split; [lia |]. intros b i _ _. cbn [sum]. rewrite (same _ O). reflexivity. }
  pose proof (least 1%nat H). replace W with 1%nat by lia. simpl. ring.
Qed.

Lemma one_type_is_fair : one_type -> no_empty_update -> fair_types.
Proof.
  intros one some. split; [assumption |]. intros n j Hn Hj. pose proof (some n Hn).
  assert (E : forall w, of_type w j = if Nat.eqb (type_of A O) j then total w else 0).
  { intros w. unfold of_type. destruct (Nat.eqb (type_of A 0) j) eqn:here.
    - apply sum_ext. intros i Hi. rewrite (one i O Hi (several C)), here. reflexivity.
    - rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
      intros i Hi. rewrite (one i O Hi (several C)), here. reflexivity. }
  unfold type_share, type_weight, type_importance. rewrite !E, share_sum. fold (weight_sum n).
  destruct (Nat.eqb (type_of A 0) j); field; lra.
Qed.

(** Where types are fair, all updates have a multiple of the federated problem. *)
Section Fair.
Context (fair : fair_types).

Lemma multiple_of_problem n x : (n < updates A)%nat ->
  value (round_objective n) x = weight_sum n * value federated x.
Proof.
  intros Hn. unfold round_objective, federated. rewrite <- !values_over_types, <- sum_scale. apply sum_ext.
  intros j Hj. pose proof (proj2 fair n j Hn Hj) as equal. pose proof (proj1 fair n Hn) as positive.
  unfold type_share, type_importance, type_weight in equal. rewrite <- equal. field. lra.
Qed.

Lemma total_positive : 0 < mean_over_updates weight_sum.
Proof.
  unfold mean_over_updates. pose proof N_at_least_one. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra |].
  apply Schedule.sum_positive; [apply some_updates | apply fair].
Qed.

Lemma surrogate_is_multiple x : value surrogate x = mean_over_updates weight_sum * value federated x.
Proof.
  pose proof (mean_of_objectives x) as mean_of. cbn [value surrogate sum_objective]. apply Rminus_diag_uniq_sym in mean_of.
  rewrite <- mean_of. unfold mean_over_updates. rewrite Rmult_assoc. f_equal. rewrite Rmult_comm, <- sum_scale.
  apply sum_ext. intros n Hn. rewrite (multiple_of_problem n x Hn). ring.
Qed.

Lemma fair_mean_type j : (j < number C)%nat -> of_type mean_weight j = type_importance j * mean_over_updates weight_sum.
Proof.
  intros Hj. rewrite of_mean_weights, (mean_over_updates_ext _ (fun n => type_importance j * weight_sum n)).
  - unfold mean_over_updates. rewrite sum_scale. ring.
  - intros n Hn. rewrite <- (proj2 fair n j Hn Hj). unfold type_share. pose proof (proj1 fair n Hn). field. lra.
Qed.

Lemma slopes_over_types x w v : dot (grad (sum_objective w) x) v
  = total (fun j => dot (grad (L_i j) x) v * of_type w j).
Proof.
  rewrite (sum_over_types (fun j => dot (grad (L_i j) x) v)) by (intros; rewrite same_objective; reflexivity).
  cbn [grad sum_objective]. rewrite dot_vsum. apply sum_ext. intros. rewrite dot_scale. ring.
Qed.

Lemma surrogate_slope x v : dot (grad surrogate x) v = mean_over_updates weight_sum * dot (grad federated x) v.
Proof.
  unfold surrogate, federated. rewrite !slopes_over_types, <- sum_scale. apply sum_ext. intros j Hj.
  rewrite (fair_mean_type j Hj). unfold type_importance. ring.
Qed.

Lemma fair_residual bar bar_n : minimiser surrogate bar ->
  (forall n, (n < updates A)%nat -> minimiser (round_objective n) (bar_n n)) -> residual bar bar_n = 0.
Proof.
  intros [_ least] optima. unfold residual, mean_over_updates.
  rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; ring |].
  intros n Hn. pose proof (proj2 (optima n Hn) bar) as low. pose proof (least (bar_n n)) as high.
  rewrite !surrogate_is_multiple in high. rewrite !(multiple_of_problem n) in * by assumption.
  pose proof (Rmult_le_reg_l _ _ _ total_positive high).
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (proj1 fair n Hn)) H). lra.
Qed.

Lemma fair_optimum star bar : minimiser federated star -> minimiser surrogate bar ->
  (forall x, minimiser federated x -> ‖x - star‖² = 0) -> length (bar - star)%vec = 0.
Proof.
  intros _ [slope low] unique. unfold length. rewrite (unique bar), sqrt_0; [reflexivity |].
  split; [| intros y; pose proof (low y) as H; rewrite !surrogate_is_multiple in H;
    apply (Rmult_le_reg_l _ _ _ total_positive H)].
  pose proof total_positive as positive. rewrite surrogate_slope, dot_comm, surrogate_slope in slope.
  apply Rmult_eq_reg_l with (mean_over_updates weight_sum ^ 2); [lra | apply Rgt_not_eq, pow_lt; assumption].
Qed.

Lemma fair_share n j : (n < updates A)%nat -> (j < number C)%nat -> type_share n j - type_importance j = 0.
Proof. intros Hn Hj. pose proof (proj2 fair n j Hn Hj). lra. Qed.

Lemma no_misfit f : (forall j, (j < number C)%nat -> f j = type_importance j) -> misfit f = 0.
Proof.
  intros H. unfold misfit. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros j Hj. rewrite (H j Hj). destruct (Req_EM_T (type_importance j) 0); [reflexivity |]. field. assumption.
Qed.

Lemma fair_chi n : (n < updates A)%nat -> chi_sq n = 0.
Proof. intros Hn. apply no_misfit. intros j Hj. apply (proj2 fair n j Hn Hj). Qed.

Lemma fair_mean_chi : mean_chi_sq = 0.
Proof.
  apply no_misfit. intros j Hj. unfold mean_type_share, mean_weight_sum. rewrite mean_weights_add_up.
  rewrite fair_mean_type by assumption. pose proof total_positive. field. lra.
Qed.

Lemma fair_misrepresentation own bar_n : mean_misrepresentation own bar_n = 0.
Proof.
  unfold mean_misrepresentation. rewrite (mean_over_updates_ext _ (fun _ => 0)).
  - unfold mean_over_updates. rewrite sum_const. ring.
  - intros n Hn. rewrite (fair_chi n Hn). ring.
Qed.

Lemma missing_types_count_nothing n j : (n < updates A)%nat -> (j < number C)%nat ->
  type_weight n j = 0 -> type_importance j = 0.
Proof. intros Hn Hj zero. rewrite <- (proj2 fair n j Hn Hj). unfold type_share. rewrite zero. unfold Rdiv. ring. Qed.

Lemma fair_unrepresented own : mean_unrepresented_gap own = 0.
Proof.
  unfold mean_unrepresented_gap. rewrite (mean_over_updates_ext _ (fun _ => 0)).
  - unfold mean_over_updates. rewrite sum_const. ring.
  - intros n Hn. unfold unrepresented_gap, mean_over_steps. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
    intros k _. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |]. intros j Hj.
    destruct (Req_EM_T (type_weight n j) 0) as [zero |]; [| reflexivity].
    rewrite (missing_types_count_nothing n j Hn Hj zero). ring.
Qed.

Lemma fair_absences : positive_importances -> absences = 0.
Proof.
  intros positive. unfold absences. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
  intros n Hn. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |]. intros j Hj.
  destruct (Nat.eqb_spec (type_of A j) j) as [first |]; [| reflexivity].
  destruct (Req_EM_T (type_weight n j) 0) as [zero |]; [| reflexivity]. exfalso.
  pose proof (missing_types_count_nothing n j Hn Hj zero) as none. unfold type_importance, of_type in none.
  assert (share C j <= total (fun i => if Nat.eqb (type_of A i) j then share C i else 0)); [| pose proof (positive j Hj); lra].
  apply Rle_trans with (total (fun i => if Nat.eqb i j then share C i else 0)).
  - rewrite (sum_single _ _ j Hj); [rewrite Nat.eqb_refl; lra |].
    intros i _ other. destruct (Nat.eqb_spec i j); [contradiction | reflexivity].
  - apply sum_le. intros i Hi. pose proof (positive i Hi). destruct (Nat.eqb_spec i j) as [-> |].
    + rewrite first, Nat.eqb_refl. lra.
    + destruct (Nat.eqb (type_of A i) j); lra.
Qed.

Lemma fair_loss star bar_n n : (n < updates A)%nat -> minimiser federated star ->
  minimiser (round_objective n) (bar_n n) -> weight_sum n * virtual_suboptimality star n - round_gap bar_n n = 0.
Proof.
  intros Hn [_ least] [_ low]. pose proof (proj1 fair n Hn) as positive.
  assert (same : value (round_objective n) (bar_n n) = weight_sum n * value federated star).
  { pose proof (low star) as below. pose proof (least (bar_n n)). rewrite !(multiple_of_problem n) in * by assumption.
    pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ positive) H). lra. }
  apply Rminus_diag_eq. unfold virtual_suboptimality, round_gap, mean_over_steps.
  rewrite (sum_ext _ (fun k => value (round_objective n) (virtual n k) - value (round_objective n) (bar_n n))
    (fun k => weight_sum n * (value federated (virtual n k) - value federated star))).
  - rewrite sum_scale. ring.
  - intros k _. rewrite same, (multiple_of_problem n) by assumption. ring.
Qed.
End Fair.
End Definitions.
