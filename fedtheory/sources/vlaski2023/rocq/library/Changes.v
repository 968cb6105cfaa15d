(** What local steps change in a round: the samples of the steps apart from those at the server's model.

    Vlaski & Sayed (2023): (5.39) to (5.41), and (5.58). *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Own Round.
Open Scope R_scope.

Section Changes.
Context (A : round) (D : draws (step_clients A)) (uniform_D : uniform_draws D) (uniform_C : uniform_shares A).
Notation V := (step_space A).
Notation C := (step_clients A).

(** The means over the steps of client i, and over those that are drawn. *)
Definition start_of_client (i : nat) : V := ((1 / E_of A i) • local_sum A (sample_at_start A) i)%vec.
Definition change_of_client (i : nat) : V :=
  ((1 / E_of A i) • local_sum A (fun e i => sample A e i - sample_at_start A e i)%vec i)%vec.
Definition start_of_drawn : nat -> V := selected A D start_of_client.
Definition change_of_drawn : nat -> V := selected A D change_of_client.
Definition change_in_the_mean : V := vmean C change_of_client.

(** The energy of the changes, and their product with the samples at the start. *)
Definition energy_of_changes : R := mean (outcomes D) (fun s => ‖change_of_drawn s‖²).
Definition change_with_start : R := mean (outcomes D) (fun s => dot (start_of_drawn s) (change_of_drawn s)).

(** Jensen's inequality for those that are drawn. *)
Lemma mean_of_drawn (x : nat -> V) : 0 <= mean C (fun i => ‖x i‖²) - mean (outcomes D) (fun s => ‖selected A D x s‖²).
Proof.
  replace (mean C (fun i => ‖x i‖²)) with (mean (outcomes D) (fun s => mean C (fun i => weight A D s i * ‖x i‖²))).
  - rewrite <- mean_minus. apply mean_nonneg. intros s Hs. set (v := selected A D x s).
    assert (known : mean C (fun i => weight A D s i * ‖x i - v‖²) = mean C (fun i => weight A D s i * ‖x i‖²) - ‖v‖²).
    { rewrite (mean_ext _ _ (fun i => weight A D s i * ‖x i‖² - 2 * (weight A D s i * dot (x i) v) + weight A D s i * ‖v‖²)).
      - rewrite mean_plus, mean_minus, mean_scale, <- (dot_selected A D uniform_C x s v).
        rewrite (mean_weight A D uniform_D uniform_C s _ Hs). fold v. ring.
      - intros i _. rewrite dot_minus, (dot_comm _ (x i)), (dot_comm _ v), !dot_minus, (dot_comm _ v (x i)). ring. }
    rewrite <- known. apply mean_nonneg. intros i _. apply Rmult_le_pos; [| apply dot_self].
    unfold weight, participates. pose proof (participants_large A D). pose proof (pos_INR (number C)).
    destruct (is_drawn D s i); [| lra].
    rewrite Rmult_1_r. apply Rmult_le_pos; [assumption | apply Rlt_le, Rinv_0_lt_compat; lra].
  - unfold mean at 1. rewrite (sum_ext _ _ (fun s => mean C (fun i => share (outcomes D) s * (weight A D s i * ‖x i‖²)))).
    + rewrite <- mean_swap. apply mean_ext. intros i Hi.
      rewrite (sum_ext _ _ (fun s => ‖x i‖² * (share (outcomes D) s * weight A D s i))) by (intros; ring).
      rewrite sum_scale. fold (mean (outcomes D) (fun s => weight A D s i)).
      rewrite (weight_in_the_mean A D uniform_D i Hi). ring.
    + intros s Hs. rewrite mean_scale. reflexivity.
Qed.

(** A client is drawn with probability L/K, whatever it holds. *)
Lemma square_if_drawn (x : V) i : (i < number C)%nat ->
  mean (outcomes D) (fun s => ‖participates D s i • x‖²) = participants D / M A * ‖x‖².
Proof.
  intros Hi. rewrite (mean_ext _ _ (fun s => ‖x‖² * participates D s i)).
  - rewrite mean_scale, (one_drawn D uniform_D i Hi). unfold M. ring.
  - intros s _. rewrite dot_scale, dot_comm, dot_scale. unfold participates. destruct (is_drawn D s i); ring.
Qed.

(** The square of a multiple of the changes. *)
Lemma square_of_changes (u : nat -> V) b :
  (forall s w, (s < number (outcomes D))%nat -> dot (u s) w = b * dot (change_of_drawn s) w) ->
  mean (outcomes D) (fun s => ‖u s‖²) = b ^ 2 * energy_of_changes.
Proof.
  intros H. unfold energy_of_changes. rewrite <- mean_scale. apply mean_ext. intros s Hs.
  rewrite H, dot_comm, H by assumption. ring.
Qed.

Context (past : V -> Prop) (fresh : unbiased_round A past) (several : 2 <= M A).

(** The square of what is known, with multiples of the samples at the start and of the changes. *)
Lemma square_with_changes (u : nat -> V) r a b : past r ->
  (forall s w, (s < number (outcomes D))%nat ->
    dot (u s) w = dot r w + a * dot (start_of_drawn s) w + b * dot (change_of_drawn s) w) ->
  mean (outcomes D) (fun s => ‖u s‖²)
  = ‖r + a • grad (F A) (server_model A)‖² + a ^ 2 * (1 / participants D * mean C (fun i => (1 / E_of A i) ^ 2 * start_variance A i)
      + left_of_differences A D * mean C (fun i => ‖grad (client_objective A i) (server_model A) - grad (F A) (server_model A)‖²))
    + 2 * b * dot change_in_the_mean r + 2 * a * b * change_with_start + b ^ 2 * energy_of_changes.
Proof.
  intros Hr H.
  rewrite (mean_ext _ _ (fun s => ‖r + a • start_of_drawn s‖² + 2 * b * dot (change_of_drawn s) r
    + 2 * a * b * dot (start_of_drawn s) (change_of_drawn s) + b ^ 2 * ‖change_of_drawn s‖²)).
  - rewrite !mean_plus, !mean_scale.
    rewrite (drawn_gradient A past fresh D uniform_D uniform_C several (fun s => r + a • start_of_drawn s)%vec start_of_client r a Hr).
    + fold energy_of_changes change_with_start. unfold change_of_drawn at 1.
      rewrite (mean_of_selected A D uniform_D uniform_C). unfold change_in_the_mean. rewrite dot_vmean. ring.
    + intros s w. rewrite dot_plus, dot_scale. reflexivity.
    + intros i w. unfold start_of_client, start_noise. rewrite !dot_scale, !dot_local_sum.
      rewrite (sum_ext _ _ (fun e => dot (grad (client_objective A i) (server_model A)) w + dot (noise_at_start A e i) w))
        by (intros; apply dot_sample_at_start).
      rewrite sum_plus, sum_const. unfold E_of. pose proof (E_large A i) as E_known. unfold E_of in E_known. field. lra.
  - intros s Hs. rewrite H by assumption. rewrite dot_plus, dot_scale.
    rewrite !(dot_comm _ _ (u s)), !H, !(dot_comm _ _ (plus r _)), !dot_plus, !dot_scale by assumption.
    rewrite (dot_comm _ (start_of_drawn s) r), (dot_comm _ (change_of_drawn s) r),
      (dot_comm _ (change_of_drawn s) (start_of_drawn s)). ring.
Qed.
End Changes.

Lemma dot_changes (A : round) i w : dot (local_sum A (fun e i => sample A e i - sample_at_start A e i)%vec i) w
  = dot (local_sum A (sample A) i) w - dot (local_sum A (sample_at_start A) i) w.
Proof. rewrite !dot_local_sum, <- sum_minus. apply sum_ext. intros. apply dot_minus. Qed.

Lemma dot_result (A : round) i w : dot (local_result A i) w
  = dot (server_model A) w - size_of_client A i * dot (local_sum A (sample A) i) w.
Proof. rewrite dot_local_sum. apply result_by_sum. Qed.

(** A vector of what those that are drawn hold, by samples at the start and changes. *)
Ltac by_changes :=
  intros; dots_expanded;
  first
    [ solve [first [ring | field; nonzero]]
    | unfold change_of_drawn, start_of_drawn, next_server_model; apply Rminus_diag_uniq;
      match goal with S : round, U : uniform_shares _ |- _ =>
        repeat rewrite (dot_selected S _ U); repeat rewrite dot_vmean; as_one_mean S ltac:(fun _ => by_weights);
        change (fun e i => sample S e i) with (sample S); change (fun e i => sample_at_start S e i) with (sample_at_start S)
      end;
      unfold change_of_client, start_of_client; dots_expanded; rewrite ?dot_changes, ?dot_result; of_client ].

(** Sums of what holds at each step. *)
Lemma below_over_steps n f g G : (forall e, (e < n)%nat -> f e <= g e) -> sum n g = G -> 0 <= G - sum n f.
Proof. intros H <-. pose proof (sum_le n f g H). lra. Qed.
