(** How far above the minimum an interval starts and ends, where the next one starts, and sums over the intervals.

    Wang et al. (2019), section IV: theta_[k](t), and the conditions (3) and (4) of Theorem 2. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Run Interval.
Open Scope R_scope.

Section Definitions.
Context (A : run) (x_star : space_of A).

(** theta_[k](t) after m steps of round n; the model that the next interval starts from; and the last interval. *)
Definition interval_gap (n m : nat) : R := value (F_of A) (centralised A n m) - value (F_of A) x_star.
Definition server_gap (n : nat) : R := value (F_of A) (server A n) - value (F_of A) x_star.
Definition last_interval_gap : R := interval_gap (rounds_of A - 1) (steps_of A).
Definition reciprocal_progress : R :=
  sum (rounds_of A) (fun n => 1 / interval_gap n (steps_of A) - 1 / interval_gap n O).

(** What holds of each round, of all of them. *)
Lemma sum_over_rounds (f : nat -> R) c : (forall n, (n < rounds_of A)%nat -> 0 <= f n + c) ->
  0 <= sum (rounds_of A) f + T A * c.
Proof.
  intros H. unfold T. rewrite <- sum_const, <- sum_plus. apply sum_nonneg. exact H.
Qed.

Lemma reciprocals_telescope :
  sum (rounds_of A) (fun n => 1 / server_gap (S n) - 1 / interval_gap n O)
  = 1 / final_suboptimality A x_star - 1 / initial_gap A x_star.
Proof.
  rewrite (sum_ext _ _ (fun n => (0 - 1 / server_gap n) - (0 - 1 / server_gap (S n)))).
  - rewrite (sum_telescope _ (fun n => 0 - 1 / server_gap n)).
    change (server_gap (rounds_of A)) with (final_suboptimality A x_star).
    change (server_gap O) with (initial_gap A x_star). ring.
  - intros n _. change (interval_gap n O) with (server_gap n). ring.
Qed.

(** Where all have taken the last step of a round, their average is the next server's model. *)
Lemma last_step : exists m, S m = steps_of A.
Proof. pose proof (some_steps A). exists (steps_of A - 1)%nat. lia. Qed.

Lemma last_average n m : S m = steps_of A -> next_average (step_at A n m) = server A (S n).
Proof. intros E. simpl. rewrite <- E. reflexivity. Qed.

Lemma last_centralised n m : S m = steps_of A ->
  (centralised A n m - size_of A • grad (F_of A) (centralised A n m))%vec = centralised A n (steps_of A).
Proof. intros E. rewrite <- E. reflexivity. Qed.

(** No step of gradient descent goes up, so that no gap is zero where the last one is not. *)
Lemma gap_descends L n m : 0 < size_of A -> 0 < L -> size_of A <= 1 / L -> always A (fun S => smooth_clients S L) ->
  interval_gap n (S m) <= interval_gap n m.
Proof.
  intros Hs HL Hc smooth_A. unfold interval_gap. cbn [centralised].
  set (v := centralised A n m). set (g := grad (F_of A) v). set (s := size_of A) in *.
  assert (upper : 0 <= value (F_of A) v + ⟨g, v - s • g - v⟩ + L / 2 * ‖v - s • g - v‖² - value (F_of A) (v - s • g)%vec)
    by exact (smoothness (step_at A n m) (F_of A) L (v - s • g)%vec v (smooth_F _ L (smooth_A n m))).
  assert (E : ⟨g, v - s • g - v⟩ = - (s * ‖g‖²)).
  { expand_dots. ring. }
  assert (E2 : ‖v - s • g - v‖² = s ^ 2 * ‖g‖²).
  { expand_dots. ring. }
  rewrite E, E2 in upper.
  assert (small : s * L <= 1).
  { apply Rmult_le_compat_r with (r := L) in Hc; [| lra]. replace (1 / L * L) with 1 in Hc by (field; lra). exact Hc. }
  assert (0 <= s * ‖g‖² * (1 - s * L / 2)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply dot_self] | lra]. }
  lra.
Qed.

Lemma gaps_at_least L epsilon n : 0 < size_of A -> 0 < L -> size_of A <= 1 / L ->
  always A (fun S => smooth_clients S L) -> epsilon <= interval_gap n (steps_of A) ->
  forall m, (m <= steps_of A)%nat -> epsilon <= interval_gap n m.
Proof.
  intros Hs HL Hc smooth_A least m Hm.
  assert (below : forall j, interval_gap n (j + m) <= interval_gap n m).
  { induction j; [simpl; lra |]. apply Rle_trans with (2 := IHj). apply (gap_descends L); assumption. }
  specialize (below (steps_of A - m)%nat). replace (steps_of A - m + m)%nat with (steps_of A) in below by lia. lra.
Qed.
End Definitions.

(** What the distance from centralised steps costs is not negative: a power is at least its linear part. *)
Lemma power_above_line x m : 0 <= x -> 0 <= (1 + x) ^ m - 1 - INR m * x.
Proof.
  intros Hx. induction m; [simpl; lra |].
  rewrite S_INR. simpl pow.
  assert (0 <= INR m * x) by (apply Rmult_le_pos; [apply pos_INR | assumption]).
  assert (0 <= x * ((1 + x) ^ m - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma price_nonneg L s m : 0 < L -> 0 <= s -> 0 <= ((1 + L * s) ^ m - 1) / L - INR m * s.
Proof.
  intros HL Hs. replace (((1 + L * s) ^ m - 1) / L - INR m * s) with (((1 + L * s) ^ m - 1 - INR m * (L * s)) / L)
    by (field; lra).
  apply quotient_nonneg; [| exact HL]. apply power_above_line. apply Rmult_le_pos; lra.
Qed.

Lemma reciprocals_at_most e a b : 0 < e -> e <= a -> e <= b -> 0 <= 1 / (e ^ 2) - 1 / (a * b).
Proof.
  intros He Ha Hb. assert (0 < a * b) by (apply Rmult_lt_0_compat; lra).
  assert (e ^ 2 <= a * b). { simpl. rewrite Rmult_1_r. apply Rmult_le_compat; lra. }
  replace (1 / (e ^ 2) - 1 / (a * b)) with ((a * b - e ^ 2) / (e ^ 2 * (a * b))).
  - apply quotient_nonneg; [lra |]. apply Rmult_lt_0_compat; [apply pow_lt |]; assumption.
  - field. repeat split; nra.
Qed.

(** Signs of products in which these stand. *)
Ltac of_gaps :=
  repeat match goal with
  | |- 0 <= _ * _ => apply Rmult_le_pos
  | |- 0 <= _ / _ => apply quotient_nonneg
  end;
  first [assumption | lra | apply reciprocals_at_most; lra | solve [positive] | apply Rlt_le; solve [positive]].
