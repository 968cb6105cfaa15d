(** A run of two clients whose losses are Lipschitz and have a minimiser: Huber's function on the line, with slopes.

    F_1(x) = h(x) - x/4, F_2(x) = h(x) + x/4, where h(x) = x^2/2 between -1 and 1, and |x| - 1/2 elsewhere.
    eta = 1/4, tau = 2, T = 2, start 4, nothing random: the model goes from 4 to 3, and no interval ends below 5/2. *)

From Coq Require Import Reals Lra Lia.
Require Import Space Clients Objectives Normal Step Run Lengths Interval Gaps AlikeInstance.
Open Scope R_scope.

Definition line : space.
Proof.
  refine {| vector := R; zero := 0; plus := Rplus; scale := Rmult; dot := Rmult |}; intros; try ring. nra.
Defined.

Definition clipped (x : R) : R := if Rle_dec x (-1) then -1 else if Rle_dec 1 x then 1 else x.
Definition huber (x : R) : R := if Rle_dec x (-1) then - x - 1 / 2 else if Rle_dec 1 x then x - 1 / 2 else x ^ 2 / 2.

Ltac by_pieces :=
  unfold huber, clipped in *; repeat destruct Rle_dec;
  repeat match goal with H : ~ _ <= _ |- _ => apply Rnot_le_lt in H end; try lra; try nra.

Lemma huber_gap y x : 0 <= huber y - huber x - clipped x * (y - x) <= 1 / 2 * ((y - x) * (y - x)).
Proof. pose proof (Rle_0_sqr (y - x)) as square. unfold Rsqr in square. split; by_pieces. Qed.

Lemma huber_lipschitz y x : huber y - huber x <= Rabs (y - x).
Proof. unfold Rabs. destruct Rcase_abs; by_pieces. Qed.

Definition tilt (i : nat) : R := match i with O => - (1 / 4) | _ => 1 / 4 end.
Definition huber_client (i : nat) : objective line :=
  Build_objective line (fun x => huber x + tilt i * x) (fun x => clipped x + tilt i).

Definition two_on_a_line : clients.
Proof. refine {| number := 2; share := fun _ => 1 / 2 |}; [lia | intros; lra | simpl; lra]. Defined.

Definition lipschitz_run : run.
Proof.
  refine {| space_of := line; clients_of := two_on_a_line; objective_of := huber_client; size_of := 1 / 4; steps_of := 2;
    rounds_of := 2; start := 4 : line; noise_of := fun _ _ _ => zero |}; lia.
Defined.

Lemma lipschitz_quiet : always lipschitz_run quiet.
Proof. intros n k i. reflexivity. Qed.

Lemma gap_of_huber i (y x : line) : gap (huber_client i) y x = huber y - huber x - clipped x * (y - x).
Proof. unfold gap. cbn. ring. Qed.

Lemma square_on_line (y x : line) : ‖y - x‖² = (y - x) * (y - x).
Proof. cbn. ring. Qed.

Lemma lipschitz_convex : always lipschitz_run convex_clients.
Proof. intros n k i _ y x. change (0 <= gap (huber_client i) y x). rewrite gap_of_huber. apply huber_gap. Qed.

Lemma lipschitz_smooth : always lipschitz_run (fun S => smooth_clients S 1).
Proof.
  intros n k i _ y x. change (- (1 / 2 * ‖y - x‖²) <= gap (huber_client i) y x <= 1 / 2 * ‖y - x‖²).
  rewrite gap_of_huber, square_on_line. pose proof (huber_gap y x). pose proof (Rle_0_sqr (y - x)). unfold Rsqr in *. lra.
Qed.

Lemma length_on_line (x : line) : length x = Rabs x.
Proof. unfold length. cbn. apply sqrt_Rsqr_abs. Qed.

Theorem lipschitz_losses : always lipschitz_run (fun S => lipschitz_clients S (5 / 4)).
Proof.
  intros n k i y x _. change (huber y + tilt i * y - (huber x + tilt i * x) <= 5 / 4 * length (y - x)%vec).
  rewrite length_on_line. replace ((y - x)%vec : R) with (y - x) by (cbn; ring).
  pose proof (huber_lipschitz y x). assert (tilt i * (y - x) <= 1 / 4 * Rabs (y - x)).
  { unfold Rabs. destruct i; cbn [tilt]; destruct Rcase_abs; lra. }
  lra.
Qed.

Lemma lipschitz_minimiser : minimiser (step_at lipschitz_run O O) (0 : line).
Proof. apply stationary_is_minimiser; [apply lipschitz_convex |]. cbn. by_pieces. Qed.

Lemma lipschitz_dissimilarity : always lipschitz_run (fun S => own_dissimilarity S (fun _ => 1 / 4)).
Proof.
  intros n k i x Hi. cbn in Hi |- *. destruct i as [| [| i]]; try lia; cbn [tilt]; lra.
Qed.

(** All models stay where Huber's function is a line. *)
Lemma far x : 1 <= x -> clipped x = 1 /\ huber x = x - 1 / 2.
Proof. intros H. split; by_pieces. Qed.

Ltac far_out := repeat match goal with |- context [clipped ?x] => rewrite (proj1 (far x ltac:(lra))) end.

Theorem lipschitz_servers : server lipschitz_run 1 = 7 / 2 /\ server lipschitz_run 2 = 3.
Proof.
  assert (first : server lipschitz_run 1 = 7 / 2).
  { cbn. unfold tilt. far_out. field. }
  split; [exact first |].
  change (vmean two_on_a_line (fun i => local lipschitz_run (server lipschitz_run 1) 1 2 i) = 3).
  rewrite first. cbn. unfold tilt. far_out. field.
Qed.
