(** The error at which rounds with small steps settle, to first order: mu/2 tr(H^-1 R).

    Vlaski & Sayed (2023), chapter 5: what differs of clients is in the noise of the federated gradient, (5.38). *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Own Lengths Round Changes Vanishing.
Open Scope R_scope.

(** The derivative of a gradient at x, along every line. *)
Definition hessian_at {V : space} (f : objective V) (x : V) (H : V -> V) : Prop := forall (v w : V) eps, 0 < eps ->
  exists d, 0 < d /\ forall t, 0 < t < d ->
    Rabs (dot (grad f (x + t • v)%vec - grad f x)%vec w / t - dot (H v) w) <= eps.

Lemma hessian_curved {V : space} (f : objective V) x H nu v : strongly_convex nu f -> hessian_at f x H ->
  nu * ‖v‖² <= dot (H v) v.
Proof.
  intros curved derivative. apply Rnot_lt_le. intros less.
  destruct (derivative v v ((nu * ‖v‖² - dot (H v) v) / 2)) as (d & positive & near); [lra |].
  specialize (near (d / 2) ltac:(lra)). set (t := d / 2) in *.
  pose proof (curved_along f nu (x + t • v)%vec x curved) as along.
  set (change := minus (grad f (plus x (scale t v))) (grad f x)) in *.
  assert (moved : forall w, dot (x + t • v - x)%vec w = t * dot v w) by (intros; rewrite dot_minus, dot_plus, dot_scale; ring).
  rewrite (dot_comm _ change), moved, moved, (dot_comm _ v (minus _ x)), moved in along.
  assert (t_positive : 0 < t) by (unfold t; lra).
  assert (slope : nu * ‖v‖² <= dot change v / t).
  { apply Rmult_le_reg_r with (1 := t_positive). apply Rmult_le_reg_r with (1 := t_positive).
    replace (dot change v / t * t * t) with (t * dot v change) by (rewrite (dot_comm _ v); field; lra). lra. }
  pose proof (Rle_trans _ _ _ (Rle_abs _) near). lra.
Qed.

Lemma product_at_most {V : space} (s v : V) nu : 0 < nu -> nu * ‖v‖² <= dot s v -> dot s v <= ‖s‖² / nu.
Proof.
  intros positive along. assert (square : 0 <= ‖s - nu • v‖²) by apply dot_self.
  replace (‖s - nu • v‖²) with (‖s‖² - 2 * (nu * dot s v) + nu * (nu * ‖v‖²)) in square
    by (expand_dots; rewrite ?(dot_comm _ v s); ring).
  pose proof (Rmult_le_compat_l nu _ _ (Rlt_le _ _ positive) along).
  apply Rmult_le_reg_r with (1 := positive). replace (‖s‖² / nu * nu) with (‖s‖²) by (field; lra). lra.
Qed.

Section Settling.
Context (A : round) (D : draws (step_clients A)).
Notation V := (step_space A).

(** The noise s of the federated gradient; H^-1 s; and mu/2 E<s, H^-1 s>, where R is the covariance of s. *)
Definition federated_noise (s : nat) : V := (start_of_drawn A D s - grad (F A) (server_model A))%vec.
Definition solves (H : V -> V) (solution : nat -> V) : Prop := forall s w, (s < number (outcomes D))%nat ->
  dot (H (solution s)) w = dot (federated_noise s) w.
Definition leading_error (solution : nat -> V) : R :=
  step_size A / 2 * mean (outcomes D) (fun s => ⟨federated_noise s, solution s⟩).

Lemma leading_error_at_most H solution nu : 0 < step_size A -> 0 < nu -> strongly_convex nu (F A) ->
  hessian_at (F A) (server_model A) H -> solves H solution ->
  leading_error solution <= step_size A / (2 * nu) * mean (outcomes D) (fun s => ‖federated_noise s‖²).
Proof.
  intros size positive curved derivative solved. unfold leading_error.
  replace (step_size A / (2 * nu) * mean (outcomes D) (fun s => ‖federated_noise s‖²))
    with (step_size A / 2 * mean (outcomes D) (fun s => ‖federated_noise s‖² / nu)) by (rewrite mean_over; field; lra).
  apply Rmult_le_compat_l; [lra |]. apply mean_le. intros s Hs. apply product_at_most; [assumption |].
  rewrite <- (solved s (solution s) Hs). apply hessian_curved with (1 := curved) (2 := derivative).
Qed.
End Settling.
