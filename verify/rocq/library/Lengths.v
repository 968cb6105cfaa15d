(** Norms of deterministic vectors: the inequalities that certificates name. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step.
Open Scope R_scope.

Section Lengths.
Context {V : space}.
Implicit Types u v w : V.

Lemma length_of_multiple c u w : 0 <= c -> ‖u‖² = c ^ 2 * ‖w‖² -> length u = c * length w.
Proof.
  intros Hc H. pose proof (length_nonneg w). unfold length in *. rewrite H, sqrt_mult.
  - rewrite sqrt_pow2; auto.
  - apply pow2_ge_0.
  - apply dot_self.
Qed.

Lemma root_of u b : 0 <= b -> ‖u‖² <= b ^ 2 -> length u <= b.
Proof.
  intros Hb H. apply Rsqr_incr_0; unfold Rsqr; auto using length_nonneg. rewrite length_square. lra.
Qed.

Lemma triangle_of_three u v w : length (plus (plus u v) w) <= length u + length v + length w.
Proof. pose proof (triangle (plus u v) w). pose proof (triangle u v). lra. Qed.

(** The norm of an average is at most the average of the norms. *)
Lemma length_of_mean C (f : nat -> V) : length (vmean C f) <= mean C (fun i => length (f i)).
Proof.
  assert (H : 0 <= mean C (fun i => length (f i))) by (apply mean_nonneg; intros; apply length_nonneg).
  pose proof (length_nonneg (vmean C f)) as [positive | vanishes]; [| lra].
  apply Rmult_le_reg_r with (1 := positive).
  rewrite length_square, dot_vmean, Rmult_comm, <- mean_scale. apply mean_le. intros i Hi.
  rewrite Rmult_comm. apply dot_le_lengths.
Qed.

Lemma lipschitz_length (f : objective V) L y x : 0 < L -> smooth L f ->
  length (grad f y - grad f x)%vec <= L * length (y - x)%vec.
Proof.
  intros HL Hs. apply root_of.
  - apply Rmult_le_pos; [lra | apply length_nonneg].
  - pose proof (lipschitz_gradient f L y x HL Hs). pose proof (length_square (y - x)%vec) as E.
    replace ((L * length (y - x)%vec) ^ 2) with (L ^ 2 * (length (y - x)%vec * length (y - x)%vec)) by ring.
    rewrite E. lra.
Qed.
End Lengths.

Lemma lipschitz_mean S rho y x : lipschitz_clients S rho -> value (F S) y - value (F S) x <= rho * length (y - x)%vec.
Proof.
  intros H. unfold F, mean_objective; simpl. rewrite <- mean_minus.
  rewrite <- (mean_const (step_clients S) (rho * length (y - x)%vec)). apply mean_le. intros i Hi. apply H; auto.
Qed.

(** A bound on a norm from a bound on its square, which is given as a slack. *)
Lemma root_of_slack {V : space} (u : V) b s : 0 <= b -> b ^ 2 - ‖u‖² = s -> 0 <= s -> length u <= b.
Proof. intros. apply root_of; auto; lra. Qed.
