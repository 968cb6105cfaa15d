(** How far clients differ in the mean, by two least constants: of gradients that grow with that of F, and of their
    distance from it.  Liu et al. (2022), Assumption 4 and its remark. *)

From Coq Require Import Reals Lra.
Require Import Space Clients Objectives Normal Step Run.
Open Scope R_scope.

(** The least number that is not negative and has a property. *)
Definition least (P : R -> Prop) (b : R) : Prop := 0 <= b /\ P b /\ forall c, 0 <= c -> P c -> b <= c.

Section Definitions.
Context (A : run).
Notation C := (clients_of A).

(** sum_i p_i |grad F_i(x)|^2 <= G^2 + B^2 |grad F(x)|^2. *)
Definition growth_at_most (B G : R) : Prop := forall x,
  mean C (fun i => ‖grad (objective_of A i) x‖²) <= G ^ 2 + B ^ 2 * ‖grad (F_of A) x‖².
(** sum_i p_i |grad F_i(x) - grad F(x)|^2 <= sigma^2. *)
Definition dissimilarity_at_most (sigma : R) : Prop := forall x,
  mean C (fun i => ‖grad (objective_of A i) x - grad (F_of A) x‖²) <= sigma ^ 2.

Lemma variance_of_gradients x :
  mean C (fun i => ‖grad (objective_of A i) x - grad (F_of A) x‖²) = mean C (fun i => ‖grad (objective_of A i) x‖²) - ‖grad (F_of A) x‖².
Proof.
  assert (E : grad (F_of A) x = vmean C (fun i => grad (objective_of A i) x)) by reflexivity. rewrite E.
  set (g := vmean C (fun i => grad (objective_of A i) x)).
  rewrite (mean_ext C (fun i => ‖grad (objective_of A i) x - g‖²) (fun i => ‖grad (objective_of A i) x‖² + ((-2) * dot (grad (objective_of A i) x) g + ‖g‖²))).
  - rewrite !mean_plus, mean_scale, <- dot_vmean, mean_const. fold g. ring.
  - intros i _. expand_dots. rewrite ?(dot_comm _ g (grad (objective_of A i) x)). ring.
Qed.

Lemma growth_is_dissimilarity c : growth_at_most 1 c <-> dissimilarity_at_most c.
Proof. split; intros H x; specialize (H x); [rewrite variance_of_gradients | rewrite variance_of_gradients in H]; lra. Qed.

Lemma least_growth G sigma : least (growth_at_most 1) G -> least dissimilarity_at_most sigma -> G ^ 2 - sigma ^ 2 = 0.
Proof.
  intros (G_sign & G_bounds & G_least) (sigma_sign & sigma_bounds & sigma_least).
  assert (G <= sigma) by (apply G_least; [| apply growth_is_dissimilarity]; assumption).
  assert (sigma <= G) by (apply sigma_least; [| apply growth_is_dissimilarity]; assumption).
  replace sigma with G by lra. ring.
Qed.
End Definitions.
