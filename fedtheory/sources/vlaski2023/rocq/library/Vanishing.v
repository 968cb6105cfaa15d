(** Weighted means of the clients' gradients that vanish at some point: how they grow with the distance from it.

    Vlaski & Sayed (2023): (5.26), (5.53), and what steps of one size do. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Own Lengths Round.
Open Scope R_scope.

Lemma curved_along {V : space} (f : objective V) nu x y : strongly_convex nu f ->
  nu * ‖x - y‖² <= dot (grad f x - grad f y)%vec (x - y)%vec.
Proof.
  intros H. pose proof (H x y) as there. pose proof (H y x) as back. unfold gap in *.
  assert (turned : ‖y - x‖² = ‖x - y‖²) by (expand_dots; ring).
  assert (other : dot (grad f x) (y - x)%vec = - dot (grad f x) (x - y)%vec).
  { rewrite !(dot_comm _ (grad f x)), !dot_minus. ring. }
  rewrite turned, other in back. rewrite (dot_minus (grad f x) (grad f y)). lra.
Qed.

Section Vanishing.
Context (A : round) (c : nat -> R) (x y : step_space A).
Notation C := (step_clients A).
Notation F_i := (client_objective A).
Context (weights : forall i, (i < number C)%nat -> 0 <= c i).

Definition weighted_change : step_space A := vmean C (fun i => c i • (grad (F_i i) x - grad (F_i i) y))%vec.

(** By constants of strong convexity, from below. *)
Lemma weighted_monotone nu : own_strongly_convex A nu -> (forall i, 0 < nu i) ->
  mean C (fun i => c i * nu i) ^ 2 * ‖x - y‖² <= ‖weighted_change‖².
Proof.
  intros curved positive. set (u := minus x y). set (w := weighted_change). set (n := mean C (fun i => c i * nu i)).
  assert (n_sign : 0 <= n).
  { apply mean_nonneg. intros i Hi. pose proof (positive i). apply Rmult_le_pos; [auto | lra]. }
  assert (along : n * ‖u‖² <= dot w u).
  { unfold w, weighted_change, n. rewrite dot_vmean, <- mean_times. apply mean_le. intros i Hi.
    rewrite dot_scale, Rmult_assoc. apply Rmult_le_compat_l; [auto | apply curved_along; apply curved; assumption]. }
  assert (square : 0 <= ‖w - n • u‖²) by apply dot_self.
  replace (‖w - n • u‖²) with (‖w‖² - 2 * (n * dot w u) + n ^ 2 * ‖u‖²) in square by (expand_dots; rewrite ?(dot_comm _ u w); ring).
  pose proof (Rmult_le_compat_l n _ _ n_sign along). lra.
Qed.

(** By constants of smoothness, from above. *)
Lemma weighted_lipschitz delta : own_smooth A delta -> (forall i, 0 < delta i) ->
  ‖weighted_change‖² <= mean C (fun i => c i * delta i) ^ 2 * ‖x - y‖².
Proof.
  intros smooths positive. rewrite <- !length_square.
  assert (bound : length weighted_change <= mean C (fun i => c i * delta i) * length (x - y)%vec).
  { apply Rle_trans with (1 := length_of_mean C _). rewrite <- mean_times. apply mean_le. intros i Hi.
    rewrite (length_of_multiple (c i) _ (grad (F_i i) x - grad (F_i i) y)%vec); [| auto |].
    - rewrite Rmult_assoc. apply Rmult_le_compat_l; [auto | apply lipschitz_length; auto].
    - rewrite dot_scale, dot_comm, dot_scale. ring. }
  pose proof (length_nonneg weighted_change) as sign.
  pose proof (Rmult_le_compat _ _ _ _ sign sign bound bound). lra.
Qed.

(** Where they vanish at the other point, only those at the first one are left. *)
Lemma weighted_from_rest w : mean C (fun i => c i * dot (grad (F_i i) y) w) = 0 ->
  dot weighted_change w = mean C (fun i => c i * dot (grad (F_i i) x) w).
Proof.
  intros rest. unfold weighted_change. rewrite dot_vmean.
  rewrite (mean_ext _ _ (fun i => c i * dot (grad (F_i i) x) w - c i * dot (grad (F_i i) y) w)).
  - rewrite mean_minus, rest. ring.
  - intros i _. rewrite dot_scale, dot_minus. ring.
Qed.
End Vanishing.
