(** A run of FedAvg: all clients take tau local steps in each of T rounds, and the server's model becomes the average.

    Renard (2022), Algorithm 1; Liu et al. (2022), Algorithm 1 with I = tau. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step.
Open Scope R_scope.

Record run := {
  space_of : space;
  clients_of : clients;
  objective_of : nat -> objective space_of;
  size_of : R;
  steps_of : nat;
  rounds_of : nat;
  start : space_of;
  noise_of : nat -> nat -> nat -> space_of;
  some_steps : (0 < steps_of)%nat;
  some_rounds : (0 < rounds_of)%nat }.

Section Definitions.
Context (A : run).
Notation V := (space_of A).
Notation C := (clients_of A).

(** The iterate of client i after k local steps of round n, which starts at y. *)
Fixpoint local (y : V) (n k i : nat) : V :=
  match k with
  | O => y
  | S k =>
      let x := local y n k i in
      (x - size_of A • (grad (objective_of A i) x + noise_of A n k i))%vec
  end.

(** The server's model before round n. *)
Fixpoint server (n : nat) : V :=
  match n with
  | O => start A
  | S n => vmean C (fun i => local (server n) n (steps_of A) i)
  end.

(** Local step k of round n. *)
Definition step_at (n k : nat) : step :=
  {| step_space := V; step_clients := C; client_objective := objective_of A;
     local_iterate := fun i => local (server n) n k i; gradient_noise := noise_of A n k;
     step_size := size_of A; server_model := server n |}.

(** The virtual average of the clients. *)
Definition average_at (n k : nat) : V := average (step_at n k).

Definition M_of : R := INR (number C).
Definition tau : R := INR (steps_of A).
Definition T : R := INR (rounds_of A).

(** The past of each step: vectors that do not depend on its noise.  It grows from step to step and from round to
    round. *)
Record unbiased_run (past : nat -> nat -> V -> Prop) : Prop := {
  steps_unbiased : forall n k, unbiased (step_at n k) (past n k);
  past_grows : forall n k v, past n k v -> past n (S k) v;
  past_of_rounds : forall n v, past n (steps_of A) v -> past (S n) O v }.

(** A run satisfies an assumption if each of its steps does. *)
Definition always (P : step -> Prop) : Prop := forall n k, P (step_at n k).

(** Quantities of a run.  The largest drift, over all rounds, steps and clients: *)
Definition drift (n k i : nat) : R := ‖local (server n) n k i - average_at n k‖².

Fixpoint largest (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S n => Rmax (largest n f) (f n) end.

Definition max_drift : R :=
  largest (rounds_of A) (fun n => largest (S (steps_of A)) (fun k => largest (number C) (fun i => drift n k i))).

(** The average drift over the steps of a round, in which that of the first is zero, and over all rounds. *)
Definition round_drift (n : nat) : R := 1 / tau * sum (steps_of A) (fun k => mean C (fun i => drift n k i)).
Definition average_round_drift : R := 1 / T * sum (rounds_of A) round_drift.

Definition F_of : objective V := mean_objective C (objective_of A).

(** Renard (2022), Theorem 2.1: the average over t < T and k = 1, ..., tau of F(xbar^{t,k}) - F(x_star). *)
Definition round_suboptimality (x_star : V) (n : nat) : R :=
  1 / tau * sum (steps_of A) (fun k => value F_of (average_at n (S k)) - value F_of x_star).
Definition average_suboptimality (x_star : V) : R := 1 / T * sum (rounds_of A) (round_suboptimality x_star).

Definition server_distance_sq (x_star : V) (n : nat) : R := ‖server n - x_star‖².
Definition next_server_distance_sq (x_star : V) (n : nat) : R := server_distance_sq x_star (S n).
Definition initial_distance (x_star : V) : R := length (start A - x_star)%vec.
Definition final_distance_sq (x_star : V) : R := server_distance_sq x_star (rounds_of A).
Definition final_suboptimality (x_star : V) : R := value F_of (server (rounds_of A)) - value F_of x_star.
(** The suboptimality of a comparator y. *)
Definition comparator_suboptimality (y x_star : V) : R := value F_of y - value F_of x_star.
Definition initial_gap (x_star : V) : R := value F_of (start A) - value F_of x_star.
(** The progress of the rounds towards a point, from the start of each round to its end. *)
Definition total_progress (x_star : V) : R := sum (rounds_of A)
  (fun n => server_distance_sq x_star n - next_server_distance_sq x_star n).
Definition total_descent : R := sum (rounds_of A)
  (fun n => value F_of (server n) - value F_of (server (S n))).
(** Liu et al. (2022), Theorem 1: the average over all steps of |grad F(xbar)|^2. *)
Definition round_gradient_sq (n : nat) : R := 1 / tau * sum (steps_of A) (fun k => ‖grad F_of (average_at n k)‖²).
Definition average_local_gradient_sq : R := 1 / T * sum (rounds_of A) round_gradient_sq.

Lemma tau_at_least_one : 1 <= tau.
Proof. unfold tau. replace 1 with (INR 1) by reflexivity. apply le_INR. pose proof (some_steps A). lia. Qed.

Lemma T_at_least_one : 1 <= T.
Proof. unfold T. replace 1 with (INR 1) by reflexivity. apply le_INR. pose proof (some_rounds A). lia. Qed.

Lemma starts_together n : average_at n O = server n.
Proof. unfold average_at, average. simpl. apply vmean_const. Qed.

Lemma ends_at_average n : average_at n (steps_of A) = server (S n).
Proof. reflexivity. Qed.

Lemma drift_at_start n i : drift n O i = 0.
Proof. unfold drift. rewrite starts_together. simpl. rewrite minus_self. apply dot_zero. Qed.

Lemma drift_nonneg n k i : 0 <= drift n k i.
Proof. apply dot_self. Qed.

Lemma largest_at_least n f i : (i < n)%nat -> f i <= largest n f.
Proof.
  induction n; simpl; intros Hi; [lia |].
  destruct (Nat.eq_dec i n) as [-> | other]; [apply Rmax_r |].
  apply Rle_trans with (largest n f); [apply IHn; lia | apply Rmax_l].
Qed.

Lemma largest_at_most n f b : 0 <= b -> (forall i, (i < n)%nat -> f i <= b) -> largest n f <= b.
Proof. induction n; simpl; intros Hb H; auto. apply Rmax_lub; auto. Qed.

Lemma drift_at_most_largest n k i :
  (n < rounds_of A)%nat -> (k <= steps_of A)%nat -> (i < number C)%nat -> drift n k i <= max_drift.
Proof.
  intros Hn Hk Hi. assert (Hk' : (k < S (steps_of A))%nat) by lia. unfold max_drift.
  apply Rle_trans with (2 := largest_at_least _ _ n Hn); cbv beta.
  apply Rle_trans with (2 := largest_at_least _ _ k Hk'); cbv beta.
  apply (largest_at_least _ (fun i => drift n k i) i Hi).
Qed.

Lemma max_drift_at_most b : 0 <= b ->
  (forall n k i, (n < rounds_of A)%nat -> (k <= steps_of A)%nat -> (i < number C)%nat -> drift n k i <= b) ->
  max_drift <= b.
Proof.
  intros Hb H. apply largest_at_most; auto. intros n Hn. apply largest_at_most; auto. intros k Hk.
  apply largest_at_most; auto. intros i Hi. apply H; auto; lia.
Qed.

(** An average of numbers that are at most b is at most b. *)
Lemma mean_over_steps_at_most f b : (forall k, (k < steps_of A)%nat -> f k <= b) -> 1 / tau * sum (steps_of A) f <= b.
Proof.
  intros H. pose proof tau_at_least_one as Ht.
  apply Rle_trans with (1 / tau * sum (steps_of A) (fun _ => b)).
  - apply Rmult_le_compat_l; [apply quotient_nonneg; lra | apply sum_le; auto].
  - rewrite sum_const. fold tau. right. field. lra.
Qed.

Lemma mean_over_rounds_at_most f b : (forall n, (n < rounds_of A)%nat -> f n <= b) -> 1 / T * sum (rounds_of A) f <= b.
Proof.
  intros H. pose proof T_at_least_one as Ht.
  apply Rle_trans with (1 / T * sum (rounds_of A) (fun _ => b)).
  - apply Rmult_le_compat_l; [apply quotient_nonneg; lra | apply sum_le; auto].
  - rewrite sum_const. fold T. right. field. lra.
Qed.

Lemma round_drift_at_most_largest n : (n < rounds_of A)%nat -> round_drift n <= max_drift.
Proof.
  intros Hn. apply mean_over_steps_at_most. intros k Hk.
  rewrite <- (mean_const C max_drift). apply mean_le. intros i Hi. apply drift_at_most_largest; auto; lia.
Qed.

Lemma mean_drift_at_most_largest : average_round_drift <= max_drift.
Proof. apply mean_over_rounds_at_most. intros n Hn. apply round_drift_at_most_largest; auto. Qed.

Lemma progress_telescopes x_star :
  total_progress x_star = initial_distance x_star ^ 2 - final_distance_sq x_star.
Proof.
  unfold total_progress, next_server_distance_sq. rewrite sum_telescope.
  unfold final_distance_sq, initial_distance, server_distance_sq.
  replace (length (start A - x_star)%vec ^ 2) with (length (start A - x_star)%vec * length (start A - x_star)%vec) by ring.
  rewrite length_square. reflexivity.
Qed.

Lemma final_distance_nonneg x_star : 0 <= final_distance_sq x_star.
Proof. apply dot_self. Qed.

Lemma progress_of_round x_star n :
  sum (steps_of A) (fun k => ‖average_at n k - x_star‖² - ‖average_at n (S k) - x_star‖²)
  = server_distance_sq x_star n - next_server_distance_sq x_star n.
Proof.
  rewrite (sum_telescope _ (fun k => ‖average_at n k - x_star‖²)).
  rewrite starts_together. rewrite ends_at_average. reflexivity.
Qed.

Lemma descent_of_round n :
  sum (steps_of A) (fun k => value F_of (average_at n k) - value F_of (average_at n (S k)))
  = value F_of (server n) - value F_of (server (S n)).
Proof.
  rewrite (sum_telescope _ (fun k => value F_of (average_at n k))).
  rewrite starts_together. rewrite ends_at_average. reflexivity.
Qed.

Lemma descent_at_most_gap x_star : (forall y, value F_of x_star <= value F_of y) ->
  total_descent <= initial_gap x_star.
Proof.
  intros H. unfold total_descent. rewrite (sum_telescope _ (fun n => value F_of (server n))). unfold initial_gap.
  change (server 0) with (start A).
  pose proof (H (server (rounds_of A))). lra.
Qed.

Lemma M_at_least_one : 1 <= M_of.
Proof. apply number_ge_1. Qed.

Lemma step_below k : (k < steps_of A)%nat -> INR k + 1 <= tau.
Proof. intros H. unfold tau. rewrite <- S_INR. apply le_INR. lia. Qed.

Lemma at_least_one k : (1 <= k)%nat -> 1 <= INR k.
Proof. intros H. replace 1 with (INR 1) by reflexivity. apply le_INR. lia. Qed.

Lemma not_above k : (k <= steps_of A)%nat -> INR k <= tau.
Proof. intros H. apply le_INR. lia. Qed.

(** Inequalities for each local step give one for a round, and those for each round give one for the run.  A step may
    add a potential times the spread of the clients, which is zero at the end of a round. *)
Definition spread (n k : nat) : R := mean C (fun i => drift n k i).

Lemma spread_at_start n : spread n O = 0.
Proof. unfold spread. rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const | intros; apply drift_at_start]. Qed.

Lemma traded_of_round (potential : R -> R) n : potential tau = 0 ->
  sum (steps_of A) (fun k => potential (INR k) * spread n k - potential (INR k + 1) * spread n (S k)) = 0.
Proof.
  intros at_end. rewrite (sum_ext _ _ (fun k => potential (INR k) * spread n k - potential (INR (S k)) * spread n (S k))).
  - rewrite (sum_telescope _ (fun k => potential (INR k) * spread n k)). fold tau.
    rewrite at_end, spread_at_start. ring.
  - intros k _. rewrite S_INR. reflexivity.
Qed.

Lemma mean_of_round x_star n g p d s e (potential : R -> R) (c : nat -> R) : potential tau = 0 ->
  (forall k, (k < steps_of A)%nat -> 0 <=
     g * (value F_of (average_at n (S k)) - value F_of x_star)
     + p * (‖average_at n k - x_star‖² - ‖average_at n (S k) - x_star‖²)
     + d * spread n k
     + s * ‖grad F_of (average_at n k)‖²
     + e * (value F_of (average_at n k) - value F_of (average_at n (S k)))
     + (potential (INR k) * spread n k - potential (INR k + 1) * spread n (S k)) + c k) ->
  0 <= g * round_suboptimality x_star n
       + p / tau * (server_distance_sq x_star n - next_server_distance_sq x_star n)
       + d * round_drift n + s * round_gradient_sq n
       + e / tau * (value F_of (server n) - value F_of (server (S n))) + sum (steps_of A) c / tau.
Proof.
  intros at_end H. pose proof tau_at_least_one as Ht.
  apply sum_nonneg in H.
  rewrite !sum_plus, !sum_scale, progress_of_round, descent_of_round, traded_of_round in H by assumption.
  unfold round_suboptimality, round_drift, round_gradient_sq.
  apply (quotient_nonneg _ tau) in H; [| lra]. unfold spread in H.
  match goal with |- 0 <= ?goal => match type of H with 0 <= ?known => replace goal with known; [assumption |] end end.
  field. lra.
Qed.

Lemma mean_of_run x_star g p d s e c :
  (forall n, (n < rounds_of A)%nat -> 0 <=
     g * round_suboptimality x_star n
     + p / tau * (server_distance_sq x_star n - next_server_distance_sq x_star n)
     + d * round_drift n + s * round_gradient_sq n
     + e / tau * (value F_of (server n) - value F_of (server (S n))) + c) ->
  0 <= g * average_suboptimality x_star + p / (tau * T) * total_progress x_star
       + d * average_round_drift + s * average_local_gradient_sq + e / (tau * T) * total_descent + c.
Proof.
  intros H. pose proof tau_at_least_one as Ht. pose proof T_at_least_one as HT.
  apply sum_nonneg in H. rewrite !sum_plus, !sum_scale, sum_const in H. fold T in H.
  unfold average_suboptimality, average_round_drift, average_local_gradient_sq, total_progress, total_descent.
  apply (quotient_nonneg _ T) in H; [| lra].
  match goal with |- 0 <= ?goal => match type of H with 0 <= ?known => replace goal with known; [assumption |] end end.
  field. lra.
Qed.

(** The same bound with a comparator in place of the optimum. *)
Lemma against_another y x_star :
  average_suboptimality y = average_suboptimality x_star - comparator_suboptimality y x_star.
Proof.
  unfold average_suboptimality, round_suboptimality, comparator_suboptimality.
  pose proof tau_at_least_one as Ht. pose proof T_at_least_one as HT.
  rewrite (sum_ext _ _ (fun n => round_suboptimality x_star n - (value F_of y - value F_of x_star))).
  - unfold round_suboptimality. rewrite sum_minus, sum_const. fold T. field. lra.
  - intros n _. unfold round_suboptimality. rewrite !sum_minus, !sum_const. fold tau. field. lra.
Qed.

(** If each step contracts up to a constant, the distance after all steps is bounded by a geometric sum. *)
Lemma contraction x_star (potential : R -> R) q w b :
  potential tau = 0 -> 0 <= q -> q < 1 -> 0 < w -> 0 <= b ->
  (forall n k, (k < steps_of A)%nat ->
     w * ‖average_at n (S k) - x_star‖² + potential (INR k + 1) * spread n (S k)
     <= q * (w * ‖average_at n k - x_star‖² + potential (INR k) * spread n k) + b) ->
  final_distance_sq x_star <= q ^ (steps_of A * rounds_of A) * initial_distance x_star ^ 2 + b / (w * (1 - q)).
Proof.
  intros at_end Hq Hq1 Hw Hb H. set (floor := b / (1 - q)).
  assert (floor_nonneg : 0 <= floor) by (apply quotient_nonneg; lra).
  assert (floor_kept : q * floor + b = floor) by (unfold floor; field; lra).
  set (Z := fun n k => w * ‖average_at n k - x_star‖² + potential (INR k) * spread n k).
  assert (in_round : forall n k, (k <= steps_of A)%nat -> Z n k - floor <= q ^ k * (Z n O - floor)).
  { intros n k. induction k; intros Hk; [simpl; lra |].
    assert (step := H n k ltac:(lia)). rewrite <- S_INR in step. fold (Z n (S k)) (Z n k) in step.
    apply Rle_trans with (q * (Z n k - floor)); [lra |].
    simpl. rewrite Rmult_assoc. apply Rmult_le_compat_l; [assumption | apply IHk; lia]. }
  assert (start_of : forall n, Z n O = w * server_distance_sq x_star n).
  { intros n. unfold Z. rewrite spread_at_start, starts_together. unfold server_distance_sq. ring. }
  assert (end_of : forall n, Z n (steps_of A) = w * server_distance_sq x_star (S n)).
  { intros n. unfold Z. fold tau. rewrite at_end, ends_at_average. unfold server_distance_sq. ring. }
  assert (rounds : forall n, Z n O - floor <= q ^ (steps_of A * n) * (Z O O - floor)).
  { intros n. induction n; [rewrite Nat.mul_0_r; simpl; lra |].
    rewrite start_of, <- end_of. apply Rle_trans with (1 := in_round n (steps_of A) (Nat.le_refl _)).
    replace (steps_of A * S n)%nat with (steps_of A + steps_of A * n)%nat by lia.
    rewrite pow_add, Rmult_assoc. apply Rmult_le_compat_l; [apply pow_le; assumption | exact IHn]. }
  pose proof (rounds (rounds_of A)) as last. rewrite !start_of in last.
  assert (D : server_distance_sq x_star O = initial_distance x_star ^ 2).
  { unfold initial_distance, server_distance_sq. simpl. rewrite Rmult_1_r, length_square. reflexivity. }
  rewrite D in last. unfold final_distance_sq. set (p := q ^ (steps_of A * rounds_of A)) in *.
  assert (0 <= p) by (apply pow_le; assumption).
  apply Rmult_le_reg_l with (1 := Hw).
  replace (w * (p * initial_distance x_star ^ 2 + b / (w * (1 - q)))) with (p * (w * initial_distance x_star ^ 2) + floor)
    by (unfold floor; field; lra).
  assert (0 <= p * floor) by (apply Rmult_le_pos; assumption). lra.
Qed.

(** Bounds by induction over the steps of a round. *)
Lemma recursion (D bound factor offset : nat -> R) (first last : nat) :
  D first <= bound first ->
  (forall k, (first <= k < last)%nat -> 0 <= factor k) ->
  (forall k, (first <= k < last)%nat -> D (S k) <= factor k * D k + offset k) ->
  (forall k, (first <= k < last)%nat -> factor k * bound k + offset k <= bound (S k)) ->
  forall k, (first <= k <= last)%nat -> D k <= bound k.
Proof.
  intros start positive step grows k. induction k; intros Hk.
  - replace first with O in start by lia. exact start.
  - destruct (Nat.eq_dec (S k) first) as [<- | later]; [exact start |].
    apply Rle_trans with (1 := step k ltac:(lia)). apply Rle_trans with (2 := grows k ltac:(lia)).
    apply Rplus_le_compat_r, Rmult_le_compat_l; [apply positive; lia | apply IHk; lia].
Qed.

(** The distance from the average, by the distances between clients: x_i - xbar is 1/M of the sum of x_i - x_j over the
    M - 1 others. *)
Lemma from_pairs (x : nat -> V) (i : nat) (b : R) : uniform C -> (i < number C)%nat ->
  (forall j, (j < number C)%nat -> i <> j -> ‖x i - x j‖² <= b) -> 0 <= b ->
  ‖x i - vmean C x‖² <= (1 - 1 / M_of) ^ 2 * b.
Proof.
  intros Hu Hi H Hb. set (v := minus (x i) (vmean C x)). set (c := 1 - 1 / M_of).
  pose proof M_at_least_one as HM.
  assert (Hc : 0 <= c).
  { unfold c. apply Rmult_le_reg_r with M_of; [lra |]. replace ((1 - 1 / M_of) * M_of) with (M_of - 1) by (field; lra). lra. }
  assert (Hv : ‖v‖² = mean C (fun j => dot (x i - x j)%vec v)).
  { rewrite (mean_ext _ _ (fun j => dot (x i) v - dot (x j) v)) by (intros; apply dot_minus).
    rewrite mean_minus, mean_const, <- dot_vmean, <- dot_minus. reflexivity. }
  assert (Hcv : ‖v‖² <= mean C (fun j => if Nat.eq_dec i j then 0 else 1) * (c / 2 * b) * 1
     + (if Req_EM_T c 0 then 0 else mean C (fun j => if Nat.eq_dec i j then 0 else 1) * (1 / (2 * c) * ‖v‖²))).
  { rewrite Hv at 1. rewrite Rmult_1_r. destruct (Req_EM_T c 0) as [c0 | c0].
    - rewrite Rplus_0_r, Rmult_comm, <- mean_scale. apply mean_le. intros j Hj.
      destruct (Nat.eq_dec i j) as [<- | other].
      + rewrite minus_self, dot_zero. lra.
      + exfalso. unfold c in c0. assert (M_of = 1) by (apply Rmult_eq_reg_r with (/ M_of); [field_simplify; lra | apply Rinv_neq_0_compat; lra]).
        assert (number C = 1)%nat by (apply INR_eq; assumption). lia.
    - rewrite (Rmult_comm _ (c / 2 * b)), (Rmult_comm _ (1 / (2 * c) * ‖v‖²)), <- !mean_scale, <- mean_plus.
      apply mean_le. intros j Hj. destruct (Nat.eq_dec i j) as [<- | other].
      + rewrite minus_self, dot_zero. lra.
      + pose proof (H j Hj other) as Hj2. pose proof (dot_self V (minus (scale c (minus (x i) (x j))) v)) as sq.
        rewrite dot_minus, dot_scale, !(dot_comm V _ (minus (scale c _) v)), !dot_minus, !dot_scale in sq.
        set (u := minus (x i) (x j)) in *. rewrite (dot_comm V v u) in sq.
        assert (0 < c) by lra.
        apply Rmult_le_reg_l with (2 * c); [lra |].
        replace (2 * c * (c / 2 * b * 1 + 1 / (2 * c) * ‖v‖² * 1)) with (c * c * b + ‖v‖²) by (field; lra).
        assert (c * c * ‖u‖² <= c * c * b) by (apply Rmult_le_compat_l; nra). nra. }
  assert (Hcount : mean C (fun j => if Nat.eq_dec i j then 0 else 1) = c).
  { rewrite (mean_ext _ _ (fun j => 1 - (if Nat.eq_dec i j then 1 else 0))) by (intros; destruct Nat.eq_dec; ring).
    rewrite mean_minus, mean_const. unfold mean. rewrite (sum_single _ _ i Hi).
    - destruct (Nat.eq_dec i i); [| contradiction]. rewrite (Hu i Hi). unfold c, M_of. field. pose proof (number_pos C). lra.
    - intros j Hj other. destruct (Nat.eq_dec i j); [congruence | ring]. }
  rewrite Hcount in Hcv. destruct (Req_EM_T c 0) as [c0 | c0].
  - rewrite c0 in *. lra.
  - replace (c * (1 / (2 * c) * ‖v‖²)) with (‖v‖² / 2) in Hcv by (field; assumption). nra.
Qed.

End Definitions.

(** Without noise all vectors belong to the past, and the variance is zero. *)
Section Quiet.
Context (A : run) (Q : always A quiet).

Lemma quiet_unbiased : unbiased_run A (fun _ _ _ => True).
Proof.
  constructor; auto. intros n k. constructor; auto.
  - intros i v _ _. rewrite (Q n k i). apply dot_zero.
  - intros i j _ _ _. rewrite (Q n k i). apply dot_zero.
Qed.

Lemma quiet_variance : always A (fun S => bounded_variance S 0).
Proof. intros n k i _. rewrite (Q n k i), dot_zero. simpl. lra. Qed.
End Quiet.

(** The start of a run belongs to the past of each of its steps. *)
Lemma past_start A past : unbiased_run A past -> forall n k, past n k (start A).
Proof.
  intros U. assert (grow : forall n k, past n O (start A) -> past n k (start A)).
  { intros n k H. induction k; auto. apply (past_grows A past U); auto. }
  intros n. induction n; intros k; apply grow.
  - exact (past_server _ _ (steps_unbiased A past U O O)).
  - apply (past_of_rounds A past U). auto.
Qed.

(** The average squared distance of the clients is least from their average. *)
Lemma spread_at_most_displacement A n k :
  mean (clients_of A) (fun i => drift A n k i)
  <= mean (clients_of A) (fun i => ‖local A (server A n) n k i - server A n‖²).
Proof.
  unfold drift. set (C := clients_of A). set (x := local A (server A n) n k). set (y := server A n).
  assert (E : average_at A n k = vmean C x) by reflexivity. rewrite E. clear E.
  set (a := vmean C x).
  assert (E : mean C (fun i => ‖x i - y‖²) = mean C (fun i => ‖x i - a‖²) + ‖a - y‖²).
  { rewrite (mean_ext C (fun i => ‖x i - y‖²)
      (fun i => ‖x i - a‖² + (2 * dot (x i) (a - y)%vec + (‖y‖² - ‖a‖²)))).
    - rewrite !mean_plus, mean_scale, <- dot_vmean, mean_const. fold a.
      expand_dots. rewrite (dot_comm _ y a). ring.
    - intros i _. expand_dots.
      rewrite (dot_comm _ y (x i)), (dot_comm _ a (x i)). ring. }
  rewrite E. pose proof (dot_self _ (a - y)%vec). lra.
Qed.
