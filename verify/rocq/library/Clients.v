(** Client averages: sums over the clients 0, 1, ..., M - 1 with their weights p_i. *)

From Coq Require Import Reals Lra Lia.
Require Import Space.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

Fixpoint vsum {V : space} (n : nat) (f : nat -> V) : V :=
  match n with O => zero | S m => plus (vsum m f) (f m) end.

Section Sums.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; auto. rewrite IHn, H; auto. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_scale n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; simpl sum; [simpl; ring | rewrite IHn, S_INR; ring]. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. induction n; simpl; intros H; [lra |]. pose proof (H n ltac:(lia)). assert (0 <= sum n f) by auto. lra. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra |].
  pose proof (H n ltac:(lia)). assert (sum n f <= sum n g) by auto. lra.
Qed.

Lemma sum_swap n m f : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl.
  - induction m; simpl; [reflexivity | rewrite <- IHm; ring].
  - rewrite IHn, <- sum_plus. reflexivity.
Qed.

Lemma sum_single n f k : (k < n)%nat -> (forall i, (i < n)%nat -> i <> k -> f i = 0) -> sum n f = f k.
Proof.
  induction n; simpl; intros Hk H; [lia |].
  destruct (Nat.eq_dec k n) as [-> | other].
  - rewrite (sum_ext n f (fun _ => 0)), sum_const; [ring |]. intros; apply H; lia.
  - rewrite IHn, (H n); [ring | lia | lia | lia | intros; apply H; lia].
Qed.

(** Sums of differences telescope. *)
Lemma sum_telescope n f : sum n (fun i => f i - f (S i)) = f O - f n.
Proof. induction n; simpl; [ring | rewrite IHn; ring]. Qed.

Lemma sum_of_numbers n : sum n INR = INR n * (INR n - 1) / 2.
Proof. induction n; simpl sum; [simpl; field | rewrite IHn, S_INR; field]. Qed.

Context {V : space}.

Lemma dot_vsum n (f : nat -> V) w : dot (vsum n f) w = sum n (fun i => dot (f i) w).
Proof. induction n; simpl; [apply dot_zero | rewrite dot_plus, IHn; reflexivity]. Qed.

Lemma vsum_ext n (f g : nat -> V) : (forall i, (i < n)%nat -> f i = g i) -> vsum n f = vsum n g.
Proof. induction n; simpl; intros H; auto. rewrite IHn, H; auto. Qed.

Lemma vsum_const n (c : nat -> R) (v : V) : vsum n (fun i => scale (c i) v) = scale (sum n c) v.
Proof. induction n; simpl; [symmetry; apply scale_zero | rewrite IHn, plus_scale; reflexivity]. Qed.

End Sums.

(** The clients and their weights. *)
Record clients := {
  number : nat;
  share : nat -> R;
  several : (0 < number)%nat;
  share_nonneg : forall i, (i < number)%nat -> 0 <= share i;
  share_sum : sum number share = 1 }.

Definition uniform (C : clients) : Prop := forall i, (i < number C)%nat -> share C i = / INR (number C).

Definition mean (C : clients) (f : nat -> R) : R := sum (number C) (fun i => share C i * f i).
Definition vmean (C : clients) {V : space} (f : nat -> V) : V := vsum (number C) (fun i => scale (share C i) (f i)).

Section Means.
Context (C : clients) {V : space}.

Lemma number_pos : 0 < INR (number C).
Proof. apply lt_0_INR, several. Qed.

Lemma number_ge_1 : 1 <= INR (number C).
Proof. pose proof (several C). replace 1 with (INR 1) by reflexivity. apply le_INR; lia. Qed.

Lemma mean_ext f g : (forall i, (i < number C)%nat -> f i = g i) -> mean C f = mean C g.
Proof. intros H. apply sum_ext. intros; rewrite H; auto. Qed.

Lemma mean_plus f g : mean C (fun i => f i + g i) = mean C f + mean C g.
Proof. unfold mean. rewrite <- sum_plus. apply sum_ext; intros; ring. Qed.

Lemma mean_scale c f : mean C (fun i => c * f i) = c * mean C f.
Proof. unfold mean. rewrite <- sum_scale. apply sum_ext; intros; ring. Qed.

Lemma mean_minus f g : mean C (fun i => f i - g i) = mean C f - mean C g.
Proof. unfold mean. rewrite <- sum_minus. apply sum_ext; intros; ring. Qed.

Lemma mean_const c : mean C (fun _ => c) = c.
Proof.
  unfold mean. rewrite (sum_ext _ _ (fun i => c * share C i)) by (intros; ring).
  rewrite sum_scale, share_sum; ring.
Qed.

Lemma mean_nonneg f : (forall i, (i < number C)%nat -> 0 <= f i) -> 0 <= mean C f.
Proof. intros H. apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply share_nonneg | apply H]; auto. Qed.

Lemma mean_le f g : (forall i, (i < number C)%nat -> f i <= g i) -> mean C f <= mean C g.
Proof.
  intros H. assert (0 <= mean C (fun i => g i - f i)).
  { apply mean_nonneg. intros i Hi. pose proof (H i Hi). lra. }
  rewrite mean_minus in *. lra.
Qed.

Lemma dot_vmean (f : nat -> V) w : dot (vmean C f) w = mean C (fun i => dot (f i) w).
Proof. unfold vmean, mean. rewrite dot_vsum. apply sum_ext; intros; rewrite dot_scale; ring. Qed.

Lemma vmean_ext (f g : nat -> V) : (forall i, (i < number C)%nat -> f i = g i) -> vmean C f = vmean C g.
Proof. intros H. apply vsum_ext. intros; rewrite H; auto. Qed.

Lemma vmean_const (v : V) : vmean C (fun _ => v) = v.
Proof. unfold vmean. rewrite vsum_const, share_sum. apply scale_one. Qed.

Lemma mean_swap n f : mean C (fun i => sum n (f i)) = sum n (fun k => mean C (fun i => f i k)).
Proof.
  unfold mean. rewrite <- sum_swap. apply sum_ext; intros.
  rewrite sum_scale. reflexivity.
Qed.

(** Jensen: the square of an average is at most the average of the squares. *)
Lemma jensen (f : nat -> V) : ‖vmean C f‖² <= mean C (fun i => ‖f i‖²).
Proof.
  assert (H : 0 <= mean C (fun i => ‖f i - vmean C f‖²)) by (apply mean_nonneg; intros; apply dot_self).
  rewrite (mean_ext _ (fun i => ‖f i‖² - 2 * dot (f i) (vmean C f) + ‖vmean C f‖²)) in H.
  - rewrite mean_plus, mean_minus, mean_const, mean_scale, <- dot_vmean in H. lra.
  - intros. rewrite dot_minus, (dot_comm V (f i)), (dot_comm V (vmean C f)), !dot_minus.
    rewrite (dot_comm V (vmean C f) (f i)). ring.
Qed.

End Means.
