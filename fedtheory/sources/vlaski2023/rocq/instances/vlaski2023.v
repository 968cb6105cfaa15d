(** Theorem 5.1 of Vlaski & Sayed (2023) on a round of two clients with noise, of which one is drawn: its hypotheses can
    be met together.

    The clients and their noise are those of [RoundInstance]; the steps are half as large. *)

From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
Require Import Space Clients Objectives Normal Step Own Round RoundSteps Instance TwoClients RoundInstance AlikeInstance.
Require Import vlaski2023_thm_5_1_recursion_explicit.
Open Scope R_scope.

Definition small_round : round.
Proof.
  refine {|
    begun := {| step_space := V; step_clients := two; client_objective := F_of_client; local_iterate := fun _ => three;
      gradient_noise := noise 0 0; step_size := 1 / 8; server_model := three |};
    steps_of_client := S;
    size_of_client := fun i => 1 / 8 / INR (S i);
    noise_of := noise 0;
    noise_at_start := noise 0 |}; lia.
Defined.

Lemma small_round_unbiased : unbiased_round small_round certain.
Proof.
  pose proof (unbiased_start _ _ round_unbiased) as first_step.
  constructor.
  - constructor.
    + exact (past_plus _ _ first_step).
    + exact (past_scale _ _ first_step).
    + exact (past_gradient _ _ first_step).
    + exact (past_iterates _ _ first_step).
    + exact (past_server _ _ first_step).
    + exact (noise_fresh _ _ first_step).
    + exact (noise_independent _ _ first_step).
  - exact (start_fresh _ _ round_unbiased).
  - exact (start_of_others _ _ round_unbiased).
  - exact (start_of_other_steps _ _ round_unbiased).
Qed.

(** The iterates of a client know the coins of its earlier steps. *)
Lemma known_iterate e i : known 0 e (iterate small_round e i).
Proof.
  destruct e as [| [| e]]; cbn -[Nat.modulo coin TwoClients.noise]; auto. intros w j. unfold applied, three.
  destruct i as [| [| i]]; cbn -[Nat.modulo coin]; rewrite <- ?coin_of_first_step by lia; reflexivity.
Qed.

Lemma certain_is_known e v : certain v -> known 0 e v.
Proof. intros H. destruct e as [| [| e]]; cbn -[Nat.modulo]; auto. intros w j. rewrite (H w), (H (w mod 4)%nat). reflexivity. Qed.

Lemma small_steps_unbiased e : unbiased (step_of small_round e) (known 0 e).
Proof.
  constructor.
  - intros u v Hu Hv. destruct e as [| [| e]]; simpl in *; auto; intros w j; rewrite (Hu w), (Hv w); reflexivity.
  - intros a u Hu. destruct e as [| [| e]]; simpl in *; auto; intros w j; rewrite (Hu w); reflexivity.
  - intros i u Hu. destruct e as [| [| e]]; simpl in *; auto; intros w j; unfold applied; simpl; rewrite (Hu w); reflexivity.
  - intros i. apply known_iterate.
  - apply certain_is_known. intros w j. reflexivity.
  - intros i v Hi Hv. apply fresh; assumption.
  - intros i j Hi Hj apart. apply (noise_of_others e e); auto.
Qed.

(** Both minimisers of the clients: 1 and 0; that of their mean is 1/3. *)
Definition own_best (i : nat) : V := fun _ _ => slope i.

Lemma own_best_stationary i : grad (client_objective small_round i) (own_best i) = zero.
Proof.
  repeat (apply functional_extensionality; intros). cbn. unfold applied, own_best. destruct i; cbn; ring.
Qed.

Definition distance_of_best (i : nat) : R := match i with O => 2 / 3 | _ => 1 / 3 end.

Lemma distances_of_best i : ‖own_best i - best‖² = distance_of_best i ^ 2.
Proof. rewrite expected_of_all. unfold own_best, best. destruct i; cbn; field. Qed.

Lemma curvature_positive i : 0 < curvature i.
Proof. destruct i; cbn; lra. Qed.

(** The gap of a client's objective is that of a parabola, and that of the mean as well. *)
Lemma gap_of_client i (y x : V) : gap (F_of_client i) y x = curvature i / 2 * ‖y - x‖².
Proof.
  unfold F_of_client. rewrite (gap_of_quadratic four_coins (fun _ _ => curvature i)) by reflexivity.
  set (d := (y - x)%vec). rewrite expected_of_all. unfold expected, product_in_Rd, applied. cbn. field.
Qed.

Lemma gap_of_all (y x : V) : gap (F small_round) y x = 3 / 2 / 2 * ‖y - x‖².
Proof.
  unfold F. rewrite gap_of_mean. change (step_clients small_round) with two. unfold mean. cbn [sum number share two].
  change (client_objective small_round) with F_of_client. rewrite !gap_of_client. cbn [curvature]. field.
Qed.

Lemma smooth_by_gap (f : objective V) c : 0 <= c -> (forall y x, gap f y x = c / 2 * ‖y - x‖²) -> smooth c f.
Proof.
  intros Hc H y x. rewrite H. pose proof (dot_self _ (y - x)%vec).
  assert (0 <= c / 2 * ‖y - x‖²) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma curved_by_gap (f : objective V) c : (forall y x, gap f y x = c / 2 * ‖y - x‖²) -> strongly_convex c f.
Proof. intros H y x. rewrite H. lra. Qed.

Lemma small_round_smooth : own_smooth small_round curvature.
Proof. intros i _. apply smooth_by_gap; [apply Rlt_le, curvature_positive | apply gap_of_client]. Qed.

Lemma small_round_curved : own_strongly_convex small_round curvature.
Proof. intros i _. apply curved_by_gap, gap_of_client. Qed.

Lemma smooth_mean : smooth (3 / 2) (F small_round).
Proof. apply smooth_by_gap; [lra | apply gap_of_all]. Qed.

Lemma curved_mean : strongly_convex (3 / 2) (F small_round).
Proof. apply curved_by_gap, gap_of_all. Qed.

Lemma best_of_mean : minimiser small_round best.
Proof.
  apply stationary_is_minimiser.
  - intros i _. apply (quadratic_convex four_coins) with (1 := two_clients_bounds i).
  - repeat (apply functional_extensionality; intros). cbn. unfold applied, best. cbn. field.
Qed.

Lemma small_round_variance : variance_at_start small_round own_best (fun _ => 0) (fun _ => 1).
Proof. exact (round_variance own_best). Qed.

Lemma small_steps_variance e : variance_at_iterates (step_of small_round e) own_best (fun _ => 0) (fun _ => 1).
Proof.
  intros i Hi. pose proof (round_variance own_best e i Hi) as variance.
  change (dot (noise 0 e i : V) (noise 0 e i) <= 0 ^ 2 * ‖own_best i - three‖² + 1 ^ 2) in variance.
  change (dot (noise 0 e i : V) (noise 0 e i) <= 0 ^ 2 * ‖own_best i - iterate small_round e i‖² + 1 ^ 2). lra.
Qed.

Lemma small_round_mean_square : mean_square_smooth_steps small_round curvature.
Proof.
  intros e i Hi. set (x := iterate small_round e i).
  set (change := (sample small_round e i - sample_at_start small_round e i)%vec).
  change (‖change‖² <= curvature i ^ 2 * ‖x - three‖²).
  assert (E : forall w, change w O = curvature i * (x - three)%vec w O).
  { intros w. unfold change, sample, sample_at_start. fold x. cbn. unfold applied, three. cbn. ring. }
  right. rewrite !expected_of_all, <- sum_scale. apply sum_ext; intros w _. rewrite E. ring.
Qed.

Lemma one_by_one : participants one_of_two = 1.
Proof. unfold participants. cbn. lra. Qed.

Ltac of_small_round :=
  rewrite ?one_by_one; unfold E_of, M, mean; cbn; lra.

Definition vlaski2023_instance :=
  vlaski2023_thm_5_1_recursion_explicit small_round ltac:(cbn; lra) two_uniform (fun _ => eq_refl) ltac:(unfold M; cbn; lra)
    one_of_two round_draws certain small_round_unbiased best best_of_mean (fun _ _ => eq_refl) own_best own_best_stationary
    (fun _ _ _ => eq_refl) (fun _ => 0) (fun _ => Rle_refl 0) (fun _ => 1) (fun _ => Rle_0_1) curvature
    curvature_positive distance_of_best ltac:(intros [| i]; cbn; lra) curvature
    (fun i => Rlt_le _ _ (curvature_positive i)) distances_of_best small_round_variance small_round_mean_square
    small_round_smooth curvature curvature_positive small_round_curved (3 / 2) ltac:(lra) smooth_mean (3 / 2) ltac:(lra)
    curved_mean (known 0) small_steps_unbiased (fun e i => certain_is_known e (own_best i) (fun _ _ => eq_refl))
    small_steps_variance
    ltac:(intros [| [| i]] Hi; cbn in Hi; lia || (unfold E_of; cbn; lra)) ltac:(of_small_round) ltac:(of_small_round).
