(** A run of FedAvg with client sampling: all clients take tau local steps, and the server's model becomes the sum of
    their models with random weights.

    Within a round a run is as in `Run.v`, whose names are used here for runs with client sampling. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step.
Require Run.
Import Run (run, space_of, clients_of, objective_of, size_of, steps_of, rounds_of, noise_of, start, local, M_of, tau, T,
  F_of, initial_distance, comparator_suboptimality).
Open Scope R_scope.

(** A run with the product of any vector and the random weight w_i of client i in round n. *)
Record sampled_run := {
  of_clients :> run;
  weighed : nat -> nat -> space_of of_clients -> space_of of_clients }.

Section Definitions.
Context (A : sampled_run).
Notation V := (space_of A).
Notation C := (clients_of A).

(** The server's model before round n: sum_i w_i x_i of the clients' models x_i. *)
Fixpoint server (n : nat) : V :=
  match n with
  | O => start A
  | S n => vsum (number C) (fun i => weighed A n i (local A (server n) n (steps_of A) i))
  end.

(** Local step k of round n, and the virtual average of all clients. *)
Definition step_at (n k : nat) : step :=
  {| step_space := V; step_clients := C; client_objective := objective_of A;
     local_iterate := fun i => local A (server n) n k i; gradient_noise := noise_of A n k;
     step_size := size_of A; server_model := server n |}.
Definition average_at (n k : nat) : V := average (step_at n k).

(** The past of each step; the past of a round contains the weights of earlier rounds. *)
Record unbiased_run (past : nat -> nat -> V -> Prop) : Prop := {
  steps_unbiased : forall n k, unbiased (step_at n k) (past n k);
  past_grows : forall n k v, past n k v -> past n (S k) v;
  past_of_rounds : forall n v, past n (steps_of A) v -> past (S n) O v }.

(** The weights of a round add up to one, do not depend on the past, and have the client weights as expectations.  If
    the client average of v_i is zero, E|sum_i w_i v_i|^2 is at most rho times the average of |v_i|^2. *)
Record averaged_participants (past : nat -> nat -> V -> Prop) (rho : R) : Prop := {
  weighed_plus : forall n i u v, weighed A n i (u + v)%vec = (weighed A n i u + weighed A n i v)%vec;
  weighed_scale : forall n i a u, weighed A n i (a • u)%vec = (a • weighed A n i u)%vec;
  weights_add_up : forall n v, vsum (number C) (fun i => weighed A n i v) = v;
  mean_weights : forall n i u v, (i < number C)%nat -> past n (steps_of A) u -> past n (steps_of A) v ->
    ⟨weighed A n i u, v⟩ = share C i * ⟨u, v⟩;
  variance_of_weights : forall n f, (forall i, past n (steps_of A) (f i)) -> vmean C f = zero ->
    ‖vsum (number C) (fun i => weighed A n i (f i))‖² <= rho * mean C (fun i => ‖f i‖²) }.

Definition always (P : step -> Prop) : Prop := forall n k, P (step_at n k).

(** Quantities of a run. *)
Definition spread (n k : nat) : R := mean C (fun i => ‖local A (server n) n k i - average_at n k‖²).
Definition round_suboptimality (x_star : V) (n : nat) : R :=
  1 / tau A * sum (steps_of A) (fun k => value (F_of A) (average_at n (S k)) - value (F_of A) x_star).
Definition average_suboptimality (x_star : V) : R := 1 / T A * sum (rounds_of A) (round_suboptimality x_star).
Definition server_distance_sq (x_star : V) (n : nat) : R := ‖server n - x_star‖².
Definition final_distance_sq (x_star : V) : R := server_distance_sq x_star (rounds_of A).
Definition total_progress (x_star : V) : R := sum (rounds_of A)
  (fun n => server_distance_sq x_star n - server_distance_sq x_star (S n)).

(** The average over the local steps j = 1, ..., tau T of all rounds of F(xbar_j) - F(x_star), with the weights q^-j for
    q = 1 - eta mu / 2: an exponentially weighted average. *)
Definition forgets (mu : R) : R := 1 - size_of A * mu / 2.
Definition over_all_steps (mu : R) (f : nat -> nat -> R) : R := sum (rounds_of A) (fun n => sum (steps_of A) (fun k =>
  / forgets mu ^ (n * steps_of A + S k) * f n (S k))).
Definition discounted_suboptimality (mu : R) (x_star : V) : R :=
  over_all_steps mu (fun n k => value (F_of A) (average_at n k) - value (F_of A) x_star) / over_all_steps mu (fun _ _ => 1).

Lemma starts_together n : average_at n O = server n.
Proof. unfold average_at, average. simpl. apply vmean_const. Qed.

Lemma spread_at_start n : spread n O = 0.
Proof.
  unfold spread. rewrite starts_together. rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const |].
  intros i _. simpl. rewrite minus_self. apply dot_zero.
Qed.

Lemma spread_nonneg n k : 0 <= spread n k.
Proof. apply mean_nonneg. intros. apply dot_self. Qed.

Lemma final_distance_nonneg x_star : 0 <= final_distance_sq x_star.
Proof. apply dot_self. Qed.

Lemma start_distance x_star : server_distance_sq x_star O = initial_distance A x_star ^ 2.
Proof. unfold initial_distance, server_distance_sq. simpl. rewrite Rmult_1_r, length_square. reflexivity. Qed.

Lemma progress_telescopes x_star : total_progress x_star = initial_distance A x_star ^ 2 - final_distance_sq x_star.
Proof. unfold total_progress. rewrite sum_telescope, start_distance. reflexivity. Qed.

Lemma mean_of_deviations (f : nat -> V) : vmean C (fun i => f i - vmean C f)%vec = zero.
Proof.
  set (m := vmean C f).
  assert (H : forall k, vsum k (fun i => share C i • (f i - m))%vec
    = (vsum k (fun i => share C i • f i) - vsum k (fun i => share C i • m))%vec).
  { intros k. induction k as [| k IH]; cbn [vsum]; [symmetry; apply minus_self |]. rewrite IH. unfold minus.
    rewrite !scale_plus, !scale_scale, (Rmult_comm (share C k)), !plus_assoc. f_equal.
    rewrite <- !plus_assoc. f_equal. apply plus_comm. }
  unfold vmean at 1. rewrite H. change (minus m (vmean C (fun _ => m)) = zero). rewrite vmean_const. apply minus_self.
Qed.

Lemma power_below_one q : 0 < q < 1 -> 0 < q ^ (steps_of A * rounds_of A) < 1.
Proof.
  intros Hq. split; [apply pow_lt; lra |]. apply pow_lt_1_compat; [lra |].
  pose proof (Run.some_rounds A). pose proof (Run.some_steps A). nia.
Qed.

Section Draws.
Context (past : nat -> nat -> V -> Prop) (rho : R).
Context (U : unbiased_run past) (P : averaged_participants past rho).

(** The squared distance of the next model exceeds that of the client average by at most the variance of the weights. *)
Lemma distance_after_draw n y : past n (steps_of A) y ->
  server_distance_sq y (S n) <= ‖average_at n (steps_of A) - y‖² + rho * spread n (steps_of A).
Proof.
  intros Hy. set (k := steps_of A) in *. pose proof (steps_unbiased past U n k) as now.
  set (x := fun i => local A (server n) n k i). set (m := average_at n k).
  assert (past_x : forall i, past n k (x i)) by (intros i; apply (past_iterates _ _ now i)).
  assert (past_m : past n k m) by (apply (past_average _ _ now)).
  assert (past_minus : forall u v, past n k u -> past n k v -> past n k (u - v)%vec).
  { intros u v Hu Hv. apply (past_plus _ _ now); [assumption |]. apply (past_scale _ _ now). assumption. }
  set (d := vsum (number C) (fun i => weighed A n i (x i - m)%vec)).
  assert (apart : forall w, dot (server (S n)) w = dot d w + dot m w).
  { intros w. replace (dot m w) with (dot (vsum (number C) (fun i => weighed A n i m)) w)
      by (rewrite (weights_add_up past rho P n m); reflexivity).
    unfold d. cbn [server]. rewrite !dot_vsum, <- sum_plus.
    apply sum_ext. intros i _. unfold minus. rewrite (weighed_plus past rho P), (weighed_scale past rho P).
    rewrite dot_plus, dot_scale. fold k. fold (x i). ring. }
  assert (fresh : dot d (m - y)%vec = 0).
  { unfold d. rewrite dot_vsum.
    rewrite (sum_ext _ _ (fun i => share C i * dot (x i - m)%vec (m - y)%vec)).
    - change (mean C (fun i => dot (x i - m)%vec (m - y)%vec) = 0). rewrite <- dot_vmean.
      replace (vmean C (fun i => x i - m)%vec) with (@zero V) by (symmetry; apply (mean_of_deviations x)). apply dot_zero.
    - intros i Hi. apply (mean_weights past rho P); auto. }
  assert (varies : ‖d‖² <= rho * spread n k).
  { apply (variance_of_weights past rho P n (fun i => x i - m)%vec); [intros; fold k; auto | apply (mean_of_deviations x)]. }
  set (v := (server (S n) - y)%vec). set (z := (m - y)%vec) in *.
  assert (splits : forall w, dot v w = dot d w + dot z w).
  { intros w. unfold v, z. rewrite !dot_minus, apart. ring. }
  change (‖v‖² <= ‖z‖² + rho * spread n k).
  rewrite splits, (dot_comm V d), (dot_comm V z), !splits, (dot_comm V z d), fresh. lra.
Qed.

(** The distance from y and the potential before a step; after the last step the potential bounds the variance of the
    weights. *)
Definition state (y : V) (w : R) (potential : R -> R) (n k : nat) : R :=
  w * ‖average_at n k - y‖² + potential (INR k) * spread n k.

Lemma state_of_next y w potential n : past n (steps_of A) y -> 0 <= w -> w * rho <= potential (tau A) ->
  state y w potential (S n) O <= state y w potential n (steps_of A).
Proof.
  intros Hy Hw pays. unfold state. rewrite spread_at_start, starts_together. fold (server_distance_sq y (S n)).
  pose proof (distance_after_draw n y Hy) as H. pose proof (spread_nonneg n (steps_of A)) as positive. fold (tau A).
  apply (Rmult_le_compat_l w) in H; [| assumption]. apply (Rmult_le_compat_r _ _ _ positive) in pays. lra.
Qed.

Lemma state_at_start y w potential : state y w potential O O = w * initial_distance A y ^ 2.
Proof. unfold state. rewrite spread_at_start, starts_together. fold (server_distance_sq y O). rewrite start_distance. ring. Qed.

Lemma state_after_rounds y w potential n : state y w potential n O = w * server_distance_sq y n.
Proof. unfold state. rewrite spread_at_start, starts_together. unfold server_distance_sq. ring. Qed.

Context (y : V) (past_y : forall n k, past n k y).

Lemma contraction (potential : R -> R) q w b :
  w * rho <= potential (tau A) -> 0 <= q -> q < 1 -> 0 < w -> 0 <= b ->
  (forall n k, (k < steps_of A)%nat ->
     w * ‖average_at n (S k) - y‖² + potential (INR k + 1) * spread n (S k)
     <= q * (w * ‖average_at n k - y‖² + potential (INR k) * spread n k) + b) ->
  final_distance_sq y <= q ^ (steps_of A * rounds_of A) * initial_distance A y ^ 2 + b / (w * (1 - q)).
Proof.
  intros pays Hq Hq1 Hw Hb H. set (floor := b / (1 - q)). set (Z := state y w potential).
  assert (floor_nonneg : 0 <= floor) by (apply quotient_nonneg; lra).
  assert (floor_kept : q * floor + b = floor) by (unfold floor; field; lra).
  assert (in_round : forall n k, (k <= steps_of A)%nat -> Z n k - floor <= q ^ k * (Z n O - floor)).
  { intros n k. induction k; intros Hk; [simpl; lra |].
    assert (step := H n k ltac:(lia)). rewrite <- S_INR in step. fold (Z n (S k)) (Z n k) in step.
    apply Rle_trans with (q * (Z n k - floor)); [unfold Z, state in *; lra |].
    simpl. rewrite Rmult_assoc. apply Rmult_le_compat_l; [assumption | apply IHk; lia]. }
  assert (rounds : forall n, Z n O - floor <= q ^ (steps_of A * n) * (Z O O - floor)).
  { intros n. induction n; [rewrite Nat.mul_0_r; simpl; lra |].
    assert (next := state_of_next y w potential n (past_y _ _) ltac:(lra) pays). fold Z in next.
    apply Rle_trans with (Z n (steps_of A) - floor); [lra |].
    apply Rle_trans with (1 := in_round n (steps_of A) (Nat.le_refl _)).
    replace (steps_of A * S n)%nat with (steps_of A + steps_of A * n)%nat by lia.
    rewrite pow_add, Rmult_assoc. apply Rmult_le_compat_l; [apply pow_le; assumption | exact IHn]. }
  pose proof (rounds (rounds_of A)) as last. unfold Z in last. rewrite state_after_rounds, state_at_start in last.
  unfold final_distance_sq. set (p := q ^ (steps_of A * rounds_of A)) in *.
  assert (0 <= p) by (apply pow_le; assumption).
  apply Rmult_le_reg_l with (1 := Hw).
  replace (w * (p * initial_distance A y ^ 2 + b / (w * (1 - q)))) with (p * (w * initial_distance A y ^ 2) + floor)
    by (unfold floor; field; lra).
  assert (0 <= p * floor) by (apply Rmult_le_pos; assumption). lra.
Qed.

(** Inequalities for each local step give one for the average over all local steps. *)
Lemma mean_of_run (potential : R -> R) g p (c : nat -> R) :
  0 <= p -> p * rho <= potential (tau A) ->
  (forall n k, (k < steps_of A)%nat -> 0 <=
     g * (value (F_of A) (average_at n (S k)) - value (F_of A) y)
     + p * (‖average_at n k - y‖² - ‖average_at n (S k) - y‖²)
     + (potential (INR k) * spread n k - potential (INR k + 1) * spread n (S k)) + c k) ->
  0 <= g * average_suboptimality y + p / (tau A * T A) * total_progress y + sum (steps_of A) c / tau A.
Proof.
  intros Hp pays H. pose proof (Run.tau_at_least_one A) as Ht. pose proof (Run.T_at_least_one A) as HT.
  set (Z := state y p potential).
  assert (rounds : forall n, 0 <= g / tau A * (tau A * round_suboptimality y n)
    + 1 / tau A * (p * (server_distance_sq y n - server_distance_sq y (S n))) + sum (steps_of A) c / tau A).
  { intros n.
    assert (total : 0 <= sum (steps_of A) (fun k =>
      g * (value (F_of A) (average_at n (S k)) - value (F_of A) y) + (Z n k - Z n (S k)) + c k)).
    { apply sum_nonneg. intros k Hk. pose proof (H n k Hk) as step. rewrite <- S_INR in step. unfold Z, state. lra. }
    rewrite !sum_plus, sum_scale, sum_telescope in total.
    assert (next := state_of_next y p potential n (past_y _ _) Hp pays). fold Z in next.
    unfold Z in *. rewrite state_after_rounds in *.
    unfold round_suboptimality. apply Rmult_le_reg_l with (tau A); [lra |]. rewrite Rmult_0_r.
    match goal with |- 0 <= ?goal => replace goal with
      (g * sum (steps_of A) (fun k => value (F_of A) (average_at n (S k)) - value (F_of A) y)
       + p * (server_distance_sq y n - server_distance_sq y (S n)) + sum (steps_of A) c) by (field; lra) end.
    lra. }
  assert (all := sum_nonneg (rounds_of A) _ (fun n _ => rounds n)).
  rewrite !sum_plus, !sum_scale, sum_const in all. fold (T A) in all.
  unfold average_suboptimality, total_progress.
  apply Rmult_le_reg_l with (T A); [lra |]. rewrite Rmult_0_r.
  match goal with |- 0 <= ?goal => match type of all with 0 <= ?known => replace goal with known; [assumption |] end end.
  field. lra.
Qed.

(** The same for the exponentially weighted average, in which the weight grows by 1/q in each step. *)
Lemma discounted (potential : R -> R) mu q g b :
  forgets mu = q -> rho <= potential (tau A) -> 0 < q -> q < 1 -> 0 < g -> 0 <= b ->
  (forall n k, (k < steps_of A)%nat ->
     g * (value (F_of A) (average_at n (S k)) - value (F_of A) y)
       + (‖average_at n (S k) - y‖² + potential (INR k + 1) * spread n (S k))
     <= q * (‖average_at n k - y‖² + potential (INR k) * spread n k) + b) ->
  discounted_suboptimality mu y <= initial_distance A y ^ 2 * (1 - q) * q ^ (steps_of A * rounds_of A)
    / (g * (1 - q ^ (steps_of A * rounds_of A))) + b / g.
Proof.
  intros q_is pays Hq Hq1 Hg Hb H. unfold discounted_suboptimality, over_all_steps. rewrite q_is.
  set (Z := state y 1 potential). set (u := fun j => / q ^ j). set (t := steps_of A) in *.
  set (e := fun n k => value (F_of A) (average_at n k) - value (F_of A) y).
  assert (u_pos : forall j, 0 < u j) by (intros; apply Rinv_0_lt_compat, pow_lt; assumption).
  assert (u_next : forall j, u (S j) * q = u j).
  { intros j. unfold u. simpl. field. split; [apply pow_nonzero |]; lra. }
  set (weights := fun n => sum t (fun k => u (n * t + S k)%nat)).
  assert (of_round : forall n, g * sum t (fun k => u (n * t + S k)%nat * e n (S k))
    <= u (n * t)%nat * Z n O - u (S n * t)%nat * Z (S n) O + b * weights n).
  { intros n. assert (next := state_of_next y 1 potential n (past_y _ _) ltac:(lra) ltac:(lra)). fold Z t in next.
    apply Rle_trans with (sum t (fun k => (u (n * t + k)%nat * Z n k - u (n * t + S k)%nat * Z n (S k))
      + b * u (n * t + S k)%nat)).
    - rewrite <- sum_scale. apply sum_le. intros k Hk. pose proof (H n k Hk) as step. rewrite <- S_INR in step.
      fold (e n (S k)) in step. assert (moves : g * e n (S k) <= q * Z n k - Z n (S k) + b) by (unfold Z, state; lra).
      apply (Rmult_le_compat_l (u (n * t + S k)%nat)) in moves; [| left; apply u_pos].
      replace (n * t + S k)%nat with (S (n * t + k)) in * by lia. rewrite <- (u_next (n * t + k)%nat). lra.
    - rewrite sum_plus, sum_scale, (sum_telescope t (fun k => u (n * t + k)%nat * Z n k)).
      rewrite Nat.add_0_r. replace (n * t + t)%nat with (S n * t)%nat by (simpl; lia). fold (weights n).
      apply (Rmult_le_compat_l (u (S n * t)%nat)) in next; [lra | left; apply u_pos]. }
  set (W := sum (rounds_of A) weights).
  assert (all : g * sum (rounds_of A) (fun n => sum t (fun k => u (n * t + S k)%nat * e n (S k)))
    <= initial_distance A y ^ 2 + b * W).
  { rewrite <- sum_scale. apply Rle_trans with (sum (rounds_of A) (fun n =>
      (u (n * t)%nat * Z n O - u (S n * t)%nat * Z (S n) O) + b * weights n)); [apply sum_le; auto |].
    rewrite sum_plus, sum_scale, (sum_telescope _ (fun n => u (n * t)%nat * Z n O)). fold W.
    replace (u (0 * t)%nat) with 1 by (unfold u; simpl; field). unfold Z. rewrite state_at_start, state_after_rounds.
    pose proof (u_pos (rounds_of A * t)%nat) as u_last. pose proof (final_distance_nonneg y) as last.
    unfold final_distance_sq in last. pose proof (Rmult_le_pos _ _ (Rlt_le _ _ u_last) last). lra. }
  assert (weights_known : forall n, (1 - q) * sum n weights = u (n * t)%nat - 1).
  { assert (of_one : forall n k, (1 - q) * sum k (fun k => u (n * t + S k)%nat) = u (n * t + k)%nat - u (n * t)%nat).
    { intros n k. induction k as [| k IH]; cbn [sum]; [rewrite Nat.add_0_r; ring |].
      rewrite Rmult_plus_distr_l, IH. replace (n * t + S k)%nat with (S (n * t + k)) by lia.
      rewrite <- (u_next (n * t + k)%nat). ring. }
    intros n. induction n as [| n IH]; cbn [sum]; [unfold u; simpl; field |].
    rewrite Rmult_plus_distr_l, IH. unfold weights. rewrite of_one.
    replace (n * t + t)%nat with (S n * t)%nat by (simpl; lia). ring. }
  pose proof (weights_known (rounds_of A)) as W_known. fold W in W_known.
  set (K := (rounds_of A * t)%nat) in *. replace (t * rounds_of A)%nat with K by (unfold K; lia).
  assert (p_known : 0 < q ^ K < 1).
  { unfold K, t. rewrite Nat.mul_comm. apply power_below_one. lra. }
  assert (W_is : W = (1 - q ^ K) / (q ^ K * (1 - q))).
  { apply Rmult_eq_reg_l with (1 - q); [| lra]. rewrite W_known. unfold u. field. lra. }
  assert (W_pos : 0 < W).
  { rewrite W_is. apply Rmult_lt_0_compat; [lra |]. apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra. }
  replace (sum (rounds_of A) (fun n => sum t (fun k => / q ^ (n * t + S k) * 1))) with W
    by (apply sum_ext; intros; apply sum_ext; intros; unfold u; ring).
  change (sum (rounds_of A) (fun n => sum t (fun k => u (n * t + S k)%nat * e n (S k))) / W
    <= initial_distance A y ^ 2 * (1 - q) * q ^ K / (g * (1 - q ^ K)) + b / g).
  apply Rmult_le_reg_l with (g * W); [apply Rmult_lt_0_compat; assumption |].
  match goal with |- ?l <= ?r =>
    replace l with (g * sum (rounds_of A) (fun n => sum t (fun k => u (n * t + S k)%nat * e n (S k)))) by (field; lra);
    replace r with (initial_distance A y ^ 2 + b * W) by (rewrite W_is; field; lra) end.
  exact all.
Qed.
End Draws.

(** The same bound with a comparator in place of the optimum. *)
Lemma against_another y x_star :
  average_suboptimality y = average_suboptimality x_star - comparator_suboptimality A y x_star.
Proof.
  unfold average_suboptimality, round_suboptimality, comparator_suboptimality.
  pose proof (Run.tau_at_least_one A) as Ht. pose proof (Run.T_at_least_one A) as HT.
  rewrite (sum_ext _ _ (fun n => round_suboptimality x_star n - (value (F_of A) y - value (F_of A) x_star))).
  - unfold round_suboptimality. rewrite sum_minus, sum_const. fold (T A). field. lra.
  - intros n _. unfold round_suboptimality. rewrite !sum_minus, !sum_const. fold (tau A). field. lra.
Qed.

Lemma discounted_against_another mu y x_star : 0 < forgets mu ->
  discounted_suboptimality mu y = discounted_suboptimality mu x_star - comparator_suboptimality A y x_star.
Proof.
  intros Hq. unfold discounted_suboptimality, comparator_suboptimality.
  set (W := over_all_steps mu (fun _ _ => 1)).
  assert (W_pos : 0 < W).
  { pose proof (Run.some_rounds A) as HT. pose proof (Run.some_steps A) as Ht. unfold W, over_all_steps.
    assert (positive : forall n f, (0 < n)%nat -> (forall k, 0 < f k) -> 0 < sum n f).
    { intros n f Hn Hf. destruct n as [| n]; [lia |]. clear Hn. induction n as [| n IH]; cbn [sum] in *.
      - pose proof (Hf O). lra.
      - pose proof (Hf (S n)). lra. }
    apply positive; [assumption |]. intros n. apply positive; [assumption |]. intros k. rewrite Rmult_1_r.
    apply Rinv_0_lt_compat, pow_lt, Hq. }
  assert (E : over_all_steps mu (fun n k => value (F_of A) (average_at n k) - value (F_of A) y)
    = over_all_steps mu (fun n k => value (F_of A) (average_at n k) - value (F_of A) x_star)
      - (value (F_of A) y - value (F_of A) x_star) * W).
  { unfold W, over_all_steps. rewrite <- sum_scale, <- sum_minus. apply sum_ext. intros n _.
    rewrite <- sum_scale, <- sum_minus. apply sum_ext. intros k _. ring. }
  rewrite E. field. lra.
Qed.

End Definitions.
