(** Types of clients and what is lost where an update misrepresents them.

    Fraboni et al. (2022), Lemma 7, (105) and the proof of Theorem 2. *)

From Coq Require Import Reals Lra Lia Arith.
Require Import Space Clients Objectives Normal Stale Weights Samples Means.
Require Run Schedule.
Open Scope R_scope.

Section Definitions.
Context (A : server).
Notation V := (space_of A).
Notation C := (clients_of A).
Notation L_i := (objective_of A).
Notation total := (sum (number C)).
Notation share_of := (weight_share A).

(** p_i of the clients whose type has no weight in the update. *)
Definition unrepresented_importance (n i : nat) : R :=
  if Req_EM_T (type_weight A n (type_of A i)) 0 then share C i else 0.
Definition client_slope_sq (n k i : nat) : R := ‖grad (L_i i) (virtual A n k)‖².
Definition virtual_client_gap (own : nat -> V) (n k i : nat) : R :=
  value (L_i i) (virtual A n k) - value (L_i i) (own i).
Definition largest_chi_sq : R := Run.largest (updates A) (chi_sq A).
Definition virtual_gradient_sq (n : nat) : R := mean_over_steps A (slope_sq A (federated A) n).
Definition mean_virtual_gradient_sq : R := mean_over_updates A virtual_gradient_sq.
Definition mean_virtual_suboptimality (star : V) : R := mean_over_updates A (virtual_suboptimality A star).

(** The inequality of Cauchy and Schwarz, with weights. *)
Lemma weighted_square n (b h : nat -> R) (v : nat -> V) : (forall i, (i < n)%nat -> 0 <= b i) ->
  ‖vsum n (fun i => (b i * h i) • v i)‖² <= sum n (fun i => b i * h i ^ 2) * sum n (fun i => b i * ‖v i‖²).
Proof.
  intros positive. rewrite square_of_sum.
  apply Rle_trans with (sum n (fun i => sum n (fun j =>
    1 / 2 * ((b i * h i ^ 2) * (b j * ‖v j‖²)) + 1 / 2 * ((b j * h j ^ 2) * (b i * ‖v i‖²))))).
  - apply sum_le. intros i Hi. apply sum_le. intros j Hj. rewrite dot_scale, dot_comm, dot_scale.
    pose proof (dot_self V (h i • v j - h j • v i)%vec) as H. revert H. expand_dots.
    rewrite (dot_comm V (v j) (v i)). intros H.
    pose proof (Rmult_le_pos _ _ (Rmult_le_pos _ _ (positive i Hi) (positive j Hj)) H). lra.
  - right. rewrite (sum_ext _ _ (fun i => 1 / 2 * (b i * h i ^ 2 * sum n (fun j => b j * ‖v j‖²))
      + 1 / 2 * (b i * ‖v i‖² * sum n (fun j => b j * h j ^ 2)))).
    + rewrite sum_plus, !sum_scale.
      rewrite (sum_ext _ (fun i => b i * h i ^ 2 * _) (fun i => sum n (fun j => b j * ‖v j‖²) * (b i * h i ^ 2))) by (intros; ring).
      rewrite (sum_ext _ (fun i => b i * ‖v i‖² * _) (fun i => sum n (fun j => b j * h j ^ 2) * (b i * ‖v i‖²))) by (intros; ring).
      rewrite !sum_scale. field.
    + intros i _. rewrite (sum_ext _ _ (fun j => 1 / 2 * (b i * h i ^ 2) * (b j * ‖v j‖²)
        + 1 / 2 * (b i * ‖v i‖²) * (b j * h j ^ 2))) by (intros; ring).
      rewrite sum_plus, !sum_scale. ring.
Qed.

(** Numbers of types are sums of those of their clients. *)
Lemma share_of_type n j : type_share A n j = of_type A (share_of n) j.
Proof.
  unfold type_share, type_weight, of_type, weight_share, Rdiv. rewrite Rmult_comm, <- sum_scale. apply sum_ext.
  intros i _. destruct (Nat.eqb (type_of A i) j); ring.
Qed.

Definition missing (n j : nat) : R := if Req_EM_T (type_weight A n j) 0 then type_importance A j else 0.

Lemma missing_of_type n j : missing n j = of_type A (unrepresented_importance n) j.
Proof.
  unfold missing, of_type, unrepresented_importance, type_importance, of_type.
  destruct (Req_EM_T (type_weight A n j) 0) as [none | some].
  - apply sum_ext. intros i _. destruct (Nat.eqb_spec (type_of A i) j) as [same |]; [| reflexivity].
    rewrite same. destruct (Req_EM_T (type_weight A n j) 0); [reflexivity | contradiction].
  - symmetry. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |]. intros i _.
    destruct (Nat.eqb_spec (type_of A i) j) as [same |]; [| reflexivity].
    rewrite same. destruct (Req_EM_T (type_weight A n j) 0); [contradiction | reflexivity].
Qed.

Lemma unrepresented_nonneg n i : (i < number C)%nat -> 0 <= unrepresented_importance n i.
Proof.
  intros Hi. unfold unrepresented_importance. destruct (Req_EM_T _ 0); [apply share_nonneg; assumption | lra].
Qed.

Lemma unrepresented_at_most_one n : total (unrepresented_importance n) <= 1.
Proof.
  rewrite <- (share_sum C). apply sum_le. intros i Hi. unfold unrepresented_importance.
  destruct (Req_EM_T _ 0); [lra | apply share_nonneg; assumption].
Qed.

Lemma of_type_nonneg w j : (forall i, (i < number C)%nat -> 0 <= w i) -> 0 <= of_type A w j.
Proof. intros H. apply sum_nonneg. intros i Hi. destruct (Nat.eqb (type_of A i) j); [auto | lra]. Qed.

(** Sums over types of what their clients have in common. *)
Lemma over_shares n f : (forall i, (i < number C)%nat -> f (type_of A i) = f i) ->
  total (fun j => type_share A n j * f j) = total (fun i => f i * share_of n i).
Proof.
  intros same. rewrite <- (sum_over_types A f (share_of n) same). apply sum_ext. intros j _. rewrite share_of_type. ring.
Qed.

Lemma over_missing n f : (forall i, (i < number C)%nat -> f (type_of A i) = f i) ->
  total (fun j => missing n j * f j) = total (fun i => f i * unrepresented_importance n i).
Proof.
  intros same. rewrite <- (sum_over_types A f (unrepresented_importance n) same). apply sum_ext. intros j _.
  rewrite missing_of_type. ring.
Qed.

Lemma slopes_of_types n k i : (i < number C)%nat -> client_slope_sq n k (type_of A i) = client_slope_sq n k i.
Proof. intros _. unfold client_slope_sq. rewrite same_objective. reflexivity. Qed.

Definition pull (n j : nat) : R :=
  if Req_EM_T (type_share A n j) 0 then 0 else (type_importance A j - type_share A n j) / type_share A n j.

Lemma represented n j : type_importance A j - type_share A n j = type_share A n j * pull n j + missing n j.
Proof.
  unfold pull, missing. destruct (Req_EM_T (type_share A n j) 0) as [zero | some].
  - destruct (Req_EM_T (type_weight A n j) 0) as [none | weight]; [lra |]. exfalso.
    destruct (Req_dec (weight_sum A n) 0) as [nobody | somebody].
    + apply weight. unfold type_weight, of_type. rewrite (sum_ext _ _ (fun _ => 0)), sum_const; [ring |].
      intros i Hi. rewrite (no_weight A n nobody i Hi). destruct (Nat.eqb _ j); reflexivity.
    + apply weight. unfold type_share in zero. apply Rmult_eq_reg_r with (/ weight_sum A n);
        [unfold Rdiv in zero; lra | apply Rinv_neq_0_compat; assumption].
  - destruct (Req_EM_T (type_weight A n j) 0) as [none | weight].
    + exfalso. apply some. unfold type_share. rewrite none. unfold Rdiv. ring.
    + field. assumption.
Qed.

Lemma misfit_by_pull n : chi_sq A n = total (fun j => type_share A n j * pull n j ^ 2).
Proof.
  unfold chi_sq, misfit, pull. apply sum_ext. intros j _. destruct (Req_EM_T (type_share A n j) 0); [ring |].
  field. assumption.
Qed.

Lemma type_share_nonneg n j : 0 <= type_share A n j.
Proof. rewrite share_of_type. apply of_type_nonneg. intros. apply share_nonneg_of. assumption. Qed.

Lemma missing_nonneg n j : 0 <= missing n j.
Proof. rewrite missing_of_type. apply of_type_nonneg. intros. apply unrepresented_nonneg. assumption. Qed.

Lemma chi_nonneg n : 0 <= chi_sq A n.
Proof.
  rewrite misfit_by_pull. apply sum_nonneg. intros. apply Rmult_le_pos; [apply type_share_nonneg | apply pow2_ge_0].
Qed.

Lemma chi_below_largest n : (n < updates A)%nat -> 0 <= largest_chi_sq - chi_sq A n.
Proof. intros Hn. pose proof (Run.largest_at_least _ (chi_sq A) n Hn). unfold largest_chi_sq. lra. Qed.

Lemma largest_chi_nonneg : 0 <= largest_chi_sq.
Proof. apply Schedule.largest_nonneg. Qed.

Lemma smallest_positive : no_empty_update A -> 0 < smallest_weight_sum A.
Proof.
  intros some. unfold smallest_weight_sum. pose proof (some_updates A) as updates_positive. unfold no_empty_update in some.
  revert some updates_positive. generalize (updates A) as m. induction m as [| m IH]; intros some Hm; [lia |].
  cbn [Schedule.smallest]. destruct m; [apply some; lia |].
  apply Rmin_glb_lt; [apply IH; [intros; apply some; lia | lia] | apply some; lia].
Qed.

(** Lemma 7. *)
Lemma deviation_in_two n k : slope_difference_sq A n k
  <= 2 * chi_sq A n * total (fun i => client_slope_sq n k i * share_of n i)
    + 2 * total (fun i => unrepresented_importance n i) * total (fun i => client_slope_sq n k i * unrepresented_importance n i).
Proof.
  change (total (fun i => unrepresented_importance n i)) with (total (unrepresented_importance n)).
  set (x := virtual A n k).
  set (P := vsum (number C) (fun j => (type_share A n j * pull n j) • grad (L_i j) x)%vec).
  set (N := vsum (number C) (fun j => (missing n j * 1) • grad (L_i j) x)%vec).
  assert (E : forall w, ⟨grad (federated A) x - grad (shared_objective A n) x, w⟩ = ⟨P + N, w⟩).
  { intros w. unfold federated, shared_objective, P, N. rewrite dot_minus, dot_plus, !slopes_over_types, !dot_vsum.
    rewrite <- sum_minus, <- sum_plus. apply sum_ext. intros j _. rewrite !dot_scale, <- share_of_type.
    pose proof (represented n j) as H. fold (type_importance A j).
    replace (⟨grad (L_i j) x, w⟩ * type_importance A j - ⟨grad (L_i j) x, w⟩ * type_share A n j)
      with ((type_importance A j - type_share A n j) * ⟨grad (L_i j) x, w⟩) by ring. rewrite H. ring. }
  unfold slope_difference_sq. fold x. rewrite E, dot_comm, E.
  pose proof (weighted_square (number C) (type_share A n) (pull n) (fun j => grad (L_i j) x)
    (fun j _ => type_share_nonneg n j)) as one. fold P in one.
  pose proof (weighted_square (number C) (missing n) (fun _ => 1) (fun j => grad (L_i j) x)
    (fun j _ => missing_nonneg n j)) as two. fold N in two.
  cbv beta in one, two. fold P in one. fold N in two. change (total (fun j => type_share A n j * ‖grad (L_i j) x‖²))
    with (total (fun j => type_share A n j * client_slope_sq n k j)) in one.
  change (total (fun j => missing n j * ‖grad (L_i j) x‖²))
    with (total (fun j => missing n j * client_slope_sq n k j)) in two.
  rewrite <- misfit_by_pull in one. rewrite (over_shares n (client_slope_sq n k) (slopes_of_types n k)) in one.
  rewrite (over_missing n (client_slope_sq n k) (slopes_of_types n k)) in two.
  assert (sums : total (fun j => missing n j * 1 ^ 2) = total (unrepresented_importance n)).
  { pose proof (over_missing n (fun _ => 1) (fun _ _ => eq_refl)) as H.
    rewrite (sum_ext _ _ (fun j => missing n j * 1)) by (intros; ring). rewrite H. apply sum_ext. intros; ring. }
  rewrite sums in two. pose proof (dot_self V (P - N)%vec) as H. revert H. expand_dots.
  rewrite (dot_comm V N P). intros H. lra.
Qed.

Section Optima.
Context (L : R) (positive : 0 < L) (cups : convex_clients A) (bends : smooth_clients A L).
Context (own : nat -> V) (optima : forall i, minimiser A (L_i i) (own i)).

Lemma slope_below n k i : (i < number C)%nat -> client_slope_sq n k i <= 2 * L * virtual_client_gap own n k i.
Proof.
  intros Hi. pose proof (cocoercive (L_i i) L (virtual A n k) (own i) positive (cups i Hi) (bends i Hi)) as H.
  assert (none : forall w, ⟨grad (L_i i) (own i), w⟩ = 0).
  { intros w. pose proof (cauchy_schwarz (grad (L_i i) (own i)) w) as S. rewrite (proj1 (optima i)), Rmult_0_l in S.
    set (s := ⟨grad (L_i i) (own i), w⟩) in *. nra. }
  assert (E : ‖grad (L_i i) (virtual A n k) - grad (L_i i) (own i)‖² = client_slope_sq n k i).
  { rewrite dot_minus, none, dot_comm, dot_minus, none. unfold client_slope_sq. ring. }
  rewrite E in H. unfold gap in H. rewrite none in H. unfold virtual_client_gap.
  apply Rmult_le_compat_l with (r := 2 * L) in H; [| lra].
  rewrite Rmult_0_r in H.
  replace (2 * L * (value (L_i i) (virtual A n k) - value (L_i i) (own i) - 0 - client_slope_sq n k i / (2 * L)))
    with (2 * L * (value (L_i i) (virtual A n k) - value (L_i i) (own i)) - client_slope_sq n k i) in H by (field; lra).
  lra.
Qed.

Lemma slopes_by_gaps n k w : (forall i, (i < number C)%nat -> 0 <= w i) ->
  total (fun i => client_slope_sq n k i * w i) <= 2 * L * total (fun i => virtual_client_gap own n k i * w i).
Proof.
  intros H. rewrite <- sum_scale. apply sum_le. intros i Hi. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; [apply H; assumption | apply slope_below; assumption].
Qed.

Lemma deviation_by_gaps n k :
  2 * chi_sq A n * total (fun i => client_slope_sq n k i * share_of n i)
    + 2 * total (fun i => unrepresented_importance n i) * total (fun i => client_slope_sq n k i * unrepresented_importance n i)
  <= 4 * L * chi_sq A n * total (fun i => virtual_client_gap own n k i * share_of n i)
    + 4 * L * total (fun i => unrepresented_importance n i * virtual_client_gap own n k i).
Proof.
  change (total (fun i => unrepresented_importance n i)) with (total (unrepresented_importance n)).
  pose proof (slopes_by_gaps n k (share_of n) (fun i => share_nonneg_of A n i)) as one.
  pose proof (slopes_by_gaps n k (unrepresented_importance n) (fun i => unrepresented_nonneg n i)) as two.
  rewrite (sum_ext _ (fun i => unrepresented_importance n i * virtual_client_gap own n k i)
    (fun i => virtual_client_gap own n k i * unrepresented_importance n i)) by (intros; ring).
  pose proof (chi_nonneg n) as chi. pose proof (unrepresented_at_most_one n) as most.
  assert (0 <= total (unrepresented_importance n)) by (apply sum_nonneg; intros; apply unrepresented_nonneg; assumption).
  assert (slopes : 0 <= total (fun i => client_slope_sq n k i * unrepresented_importance n i)).
  { apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply dot_self | apply unrepresented_nonneg; assumption]. }
  apply Rmult_le_compat_l with (r := 2 * chi_sq A n) in one; [| lra].
  apply Rmult_le_compat_r with (r := total (fun i => client_slope_sq n k i * unrepresented_importance n i)) in most; [| assumption].
  lra.
Qed.

(** (105). *)
Lemma shared_slope_below n k (bar_n : nat -> V) : minimiser A (round_objective A n) (bar_n n) ->
  slope_sq A (shared_objective A n) n k <= 2 * L * (round_gap_at A bar_n n k / weight_sum A n).
Proof. intros best. apply (slopes_below A L positive cups bends bar_n n best). Qed.

Lemma gap_of_types (x : V) i : (i < number C)%nat ->
  value (L_i (type_of A i)) x - value (L_i (type_of A i)) (own (type_of A i)) = value (L_i i) x - value (L_i i) (own i).
Proof.
  intros _. pose proof (proj2 (optima i) (own (type_of A i))) as one.
  pose proof (proj2 (optima (type_of A i)) (own i)) as two. rewrite same_objective in *. lra.
Qed.

Lemma gaps_in_two n k (bar_n : nat -> V) : total (fun i => virtual_client_gap own n k i * share_of n i)
  = round_gap_at A bar_n n k / weight_sum A n + misrepresentation A own bar_n n.
Proof.
  unfold misrepresentation.
  rewrite (over_shares n (fun j => value (L_i j) (bar_n n) - value (L_i j) (own j)) (gap_of_types (bar_n n))).
  assert (E : round_gap_at A bar_n n k / weight_sum A n
    = total (fun i => share_of n i * (value (L_i i) (virtual A n k) - value (L_i i) (bar_n n)))).
  { rewrite sum_of_shares. f_equal. unfold round_gap_at. cbn [value round_objective sum_objective].
    rewrite <- sum_minus. apply sum_ext. intros; ring. }
  rewrite E, <- sum_plus. apply sum_ext. intros. unfold virtual_client_gap. ring.
Qed.

Lemma unrepresented_by_clients n c :
  c * mean_over_steps A (fun k => total (fun i => unrepresented_importance n i * virtual_client_gap own n k i))
  <= c * unrepresented_gap A own n.
Proof.
  right. f_equal. unfold unrepresented_gap, mean_over_steps. f_equal. apply sum_ext. intros k _.
  rewrite (sum_ext _ _ (fun i => virtual_client_gap own n k i * unrepresented_importance n i)) by (intros; ring).
  unfold virtual_client_gap.
  rewrite <- (over_missing n (fun j => value (L_i j) (virtual A n k) - value (L_i j) (own j)) (gap_of_types (virtual A n k))).
  apply sum_ext. intros j _. unfold missing. destruct (Req_EM_T (type_weight A n j) 0); ring.
Qed.
End Optima.
End Definitions.
