(** A server of which one client works on an old model, with noise in the first update: what is assumed of draws is
    fulfilled by draws that are random.

    F_1(x) = x^2/2 - x, F_2(x) = x^2/2, local steps of size 1, a server step of 1/100.  A step of size 1 forgets all
    draws but the last, and so two coins for each client are enough for any number of steps: one of even steps, and one
    of odd ones. *)

From Coq Require Import Reals Lra Lia Arith Bool FunctionalExtensionality.
Require Import Space Clients Objectives Instance Stale Weights Samples TwoClients StaleInstance.
Open Scope R_scope.

Notation V := (finite_vectors four_coins).

Definition noise_at (n k i : nat) : V := fun w _ =>
  match n, i with
  | O, O => if Nat.even k then coin w 0 else coin w 2
  | O, S O => if Nat.even k then coin w 1 else coin w 3
  | _, _ => 0
  end.
Definition client_at (i : nat) : objective V := quadratic four_coins (fun _ _ => 1) (fun _ => slope_of i).

(** The model of the server, and the one before it. *)
Fixpoint noisy_models (w n : nat) : R * R :=
  match n with
  | O => (3, 3)
  | S n => let (x, old) := noisy_models w n in
      (x + 1 / 100 * (1 / 2 * (1 - noise_at n 0 0 w O - x) + 1 / 2 * (0 - noise_at n 0 1 w O - old)), x)
  end.
Definition noisy_model (n : nat) : V := fun w _ => fst (noisy_models w n).

Definition noisy_stale_server : server.
Proof.
  refine {| space_of := V; clients_of := halves; objective_of := client_at; type_of := fun i => i; updates := 2;
    steps := 1; local_size := 1; server_size := 1 / 100; received_at := received; noise_of := noise_at;
    weighed := fun _ _ => @scale V (1 / 2); expected_weight := fun _ _ => 1 / 2; model := noisy_model |};
    try lia; try lra; intros; auto; try lra.
  - destruct i; simpl; lia.
  - simpl. repeat (apply functional_extensionality; intros). ring.
  - simpl. repeat (apply functional_extensionality; intros). ring.
Defined.

Lemma noisy_before w n : fst (noisy_models w (pred n)) = snd (noisy_models w n).
Proof. destruct n; simpl; [reflexivity | destruct (noisy_models w n); reflexivity]. Qed.

Theorem noisy_scheme : aggregation_scheme noisy_stale_server.
Proof.
  intros n. apply functional_extensionality; intros w. apply functional_extensionality; intros j.
  pose proof (noisy_before w n) as before. cbn -[noise_at]. unfold noisy_model, Instance.applied.
  cbn -[noise_at]. rewrite before. destruct (noisy_models w n). cbn -[noise_at].
  assert (same : forall m i, noise_at m 0 i w j = noise_at m 0 i w O) by reflexivity. rewrite !same. field.
Qed.

Theorem noisy_weights : covariance noisy_stale_server 1 (fun _ _ => 1 / 2).
Proof.
  constructor; try lra.
  - intros n k i j _ _ _. cbn [weighed expected_weight noisy_stale_server].
    rewrite dot_scale, dot_comm, dot_scale, dot_comm. cbn [space_of noisy_stale_server]. ring.
  - intros n k i _. cbn [weighed expected_weight noisy_stale_server].
    rewrite dot_scale, dot_comm, dot_scale. cbn [space_of noisy_stale_server]. ring.
  - intros n i _. simpl. lra.
Qed.

Theorem noisy_given : given_weights noisy_stale_server (fun _ _ => 1 / 2).
Proof. intros n i. split; [reflexivity | simpl; ring]. Qed.

Definition best_of_two : V := fun _ _ => 1 / 2.

Lemma flat_bounds : between four_coins (fun _ _ => 1) 1.
Proof. split; [reflexivity |]. intros v. unfold product_in_Rd, Instance.applied. simpl. nra. Qed.

Lemma noisy_convex : convex_clients noisy_stale_server.
Proof. intros i _. exact (quadratic_convex _ _ _ _ flat_bounds). Qed.

(** The least value of x^2/2 - x/2, at which the gradient vanishes. *)
Theorem noisy_minimiser n : minimiser noisy_stale_server (round_objective noisy_stale_server n) best_of_two.
Proof.
  assert (stationary : grad (round_objective noisy_stale_server n) best_of_two = zero).
  { repeat (apply functional_extensionality; intros). cbn. unfold Instance.applied, best_of_two. cbn. field. }
  split; [rewrite stationary; apply dot_zero |]. intros y.
  change (space_of noisy_stale_server) with (V : space) in y.
  assert (convex_client : forall i, convex (client_at i)) by (intros i; exact (quadratic_convex _ _ _ _ flat_bounds)).
  pose proof (convex_client O y best_of_two) as first. pose proof (convex_client 1%nat y best_of_two) as second.
  unfold gap in first, second.
  assert (slopes : dot (grad (client_at 0) best_of_two) (y - best_of_two)%vec
    + dot (grad (client_at 1) best_of_two) (y - best_of_two)%vec = 0).
  { rewrite <- dot_plus, expected_of_all. cbn -[minus]. unfold Instance.applied, best_of_two. cbn -[minus]. field. }
  change (0 + value (client_at 0) best_of_two * (1 / 2) + value (client_at 1) best_of_two * (1 / 2)
    <= 0 + value (client_at 0) y * (1 / 2) + value (client_at 1) y * (1 / 2)). lra.
Qed.

(** What does not depend on draws, and what does not depend on those of step k. *)
Definition settled (v : V) : Prop := forall w j, v w j = v O j.
Definition other_coins (n k : nat) (v : V) : Prop :=
  match n with
  | O => forall w j, v w j = v (if Nat.even k then (4 * (w / 4))%nat else (w mod 4)%nat) j
  | _ => True
  end.

Lemma noise_is_apart n k i v : (i < 2)%nat -> other_coins n k v -> dot (noise_at n k i) v = 0.
Proof.
  intros Hi K. rewrite expected_of_all.
  destruct n as [| n]; [| rewrite (sum_ext _ _ (fun _ => 0)), sum_const;
    [ring | intros w _; destruct i as [| [|]]; cbn; ring]].
  unfold other_coins in K. unfold noise_at.
  destruct (Nat.even k); cbn [sum].
  - rewrite (K 1%nat), (K 2%nat), (K 3%nat), (K 5%nat), (K 6%nat), (K 7%nat), (K 9%nat),
      (K 10%nat), (K 11%nat), (K 13%nat), (K 14%nat), (K 15%nat).
    destruct i as [| [| i]]; [| | lia]; cbn; field.
  - rewrite (K 4%nat), (K 5%nat), (K 6%nat), (K 7%nat), (K 8%nat), (K 9%nat),
      (K 10%nat), (K 11%nat), (K 12%nat), (K 13%nat), (K 14%nat), (K 15%nat).
    destruct i as [| [| i]]; [| | lia]; cbn; field.
Qed.

Lemma noises_apart n k : dot (noise_at n k 0) (noise_at n k 1) = 0.
Proof. rewrite expected_of_all. unfold noise_at. destruct n; [destruct (Nat.even k) |]; cbn; field. Qed.

Lemma noise_length n k l i : dot (noise_at n k i) (noise_at n k i) = dot (noise_at n l i) (noise_at n l i).
Proof.
  rewrite !expected_of_all. unfold noise_at.
  destruct n, i as [| [|]]; destruct (Nat.even k), (Nat.even l); cbn; field.
Qed.

(** What a client draws is its objective with a linear term, of which the past knows nothing. *)
Definition noisy_draw (n k i : nat) : objective V :=
  {| value := fun x => value (client_at i) x + dot (noise_at n k i) x;
     grad := fun x => (grad (client_at i) x + noise_at n k i)%vec |}.

Lemma other_coins_gradient n k i u : other_coins n k u -> other_coins n k (grad (client_at i) u).
Proof. intros H. destruct n; [| exact I]. intros w j. cbn -[Nat.div Nat.modulo Nat.mul]. unfold Instance.applied.
  cbn -[Nat.div Nat.modulo Nat.mul]. rewrite (H w O). reflexivity. Qed.

Lemma mod_keeps w m : (m < 2)%nat -> coin w m = coin (w mod 4) m.
Proof. apply coin_of_first_step. Qed.

Lemma div_keeps w m : (2 <= m < 4)%nat -> coin w m = coin (4 * (w / 4)) m.
Proof.
  intros H. unfold coin. change 4%nat with (2 ^ 2)%nat. rewrite (Nat.mul_comm (2 ^ 2)).
  rewrite Nat.mul_pow2_bits_high by lia. rewrite Nat.div_pow2_bits. replace (m - 2 + 2)%nat with m by lia. reflexivity.
Qed.

(** After a step of size 1 a model depends on the last draw alone. *)
Lemma noise_of_last k i w j : noise_at 0 k i w j = noise_at 0 k i (if Nat.even (S k) then (4 * (w / 4))%nat else (w mod 4)%nat) j.
Proof.
  rewrite Nat.even_succ, <- Nat.negb_even. unfold noise_at. destruct (Nat.even k); cbn [negb];
    destruct i as [| [| i]]; try reflexivity;
    first [apply mod_keeps; lia | apply div_keeps; lia].
Qed.

Lemma local_value k i w j : local noisy_stale_server 0 k i w j
  = match k with O => 3 | S k => slope_of i - noise_at 0 k i w O end.
Proof.
  revert j. induction k as [| k IH]; intros j.
  - cbn. destruct i; reflexivity.
  - cbn -[noise_at]. unfold Instance.applied. cbn -[noise_at local]. rewrite !IH.
    change (noise_at 0 k i w j) with (noise_at 0 k i w O). ring.
Qed.

Lemma virtual_value k w j : virtual noisy_stale_server 0 k w j = match k with
  | O => 3
  | S k => 3 - 1 / 200 * (2 + noise_at 0 k 0 w O + (3 + noise_at 0 k 1 w O)) end.
Proof.
  revert j. induction k as [| k IH]; intros j; [reflexivity |].
  cbn -[noise_at]. rewrite IH. unfold sample. cbn -[noise_at local]. unfold Instance.applied. cbn -[noise_at local].
  rewrite !local_value.
  change (noise_at 0 k 0 w j) with (noise_at 0 k 0 w O). change (noise_at 0 k 1 w j) with (noise_at 0 k 1 w O).
  destruct k as [| k]; cbn [slope_of]; field.
Qed.

Lemma settled_is_known n k u : settled u -> other_coins n k u.
Proof. intros H. destruct n; [| exact I]. intros w j. rewrite (H w j). symmetry. apply H. Qed.

Lemma square_of_draw n k i u : (i < 2)%nat -> other_coins n k u ->
  ‖grad (noisy_draw n k i) u‖² = ‖grad (client_at i) u‖² + ‖noise_at n k i‖².
Proof.
  intros Hi Hu. cbn [grad noisy_draw]. set (g := grad (client_at i) u). set (xi := noise_at n k i).
  assert (apart : dot xi g = 0) by (apply noise_is_apart; [exact Hi | apply other_coins_gradient, Hu]).
  rewrite dot_plus, (dot_comm _ g (plus g xi)), (dot_comm _ xi (plus g xi)), !dot_plus, (dot_comm _ g xi), apart. ring.
Qed.

Theorem noisy_draws : unbiased_draws noisy_stale_server settled other_coins noisy_draw.
Proof.
  constructor.
  - exact settled_is_known.
  - intros n k u v Hu Hv. destruct n; [| exact I]. intros w j. cbn -[Nat.div Nat.modulo Nat.mul].
    rewrite (Hu w j), (Hv w j). reflexivity.
  - intros n k c u Hu. destruct n; [| exact I]. intros w j. cbn -[Nat.div Nat.modulo Nat.mul]. rewrite (Hu w j). reflexivity.
  - intros n k i u. apply other_coins_gradient.
  - intros n k i. destruct n; [| exact I]. intros w j. rewrite !local_value. destruct k as [| k]; [reflexivity |].
    rewrite (noise_of_last k i w O) at 1. reflexivity.
  - intros n k. destruct n; [| exact I]. intros w j. rewrite !virtual_value. destruct k as [| k]; [reflexivity |].
    rewrite (noise_of_last k 0 w O) at 1. rewrite (noise_of_last k 1 w O) at 1. reflexivity.
  - intros n k i Hi. reflexivity.
  - intros n k i u Hi Hu. cbn [value noisy_draw]. rewrite (noise_is_apart n k i u Hi Hu). apply Rplus_0_r.
  - intros n k i u v Hi Hu Hv. cbn [grad noisy_draw]. change (space_of noisy_stale_server) with (V : space) in *.
    rewrite dot_plus, (noise_is_apart n k i v Hi Hv). apply Rplus_0_r.
  - intros n k i j u v Hi Hj apart Hu Hv. cbn [grad noisy_draw]. change (space_of noisy_stale_server) with (V : space) in *.
    rewrite dot_plus, (dot_comm _ (grad (client_at i) u)), (dot_comm _ (noise_at n k i)), !dot_plus.
    rewrite (noise_is_apart n k j (grad (client_at i) u) Hj (other_coins_gradient n k i u Hu)).
    rewrite (dot_comm _ (grad (client_at j) v) (noise_at n k i)).
    rewrite (noise_is_apart n k i (grad (client_at j) v) Hi (other_coins_gradient n k j v Hv)).
    assert (noises : dot (noise_at n k j) (noise_at n k i) = 0).
    { destruct i as [| [| i]], j as [| [| j]]; try (cbn in Hi, Hj; lia); [rewrite dot_comm |]; apply noises_apart. }
    rewrite noises, (dot_comm _ (grad (client_at j) v)). ring_simplify. reflexivity.
  - intros n k l i u Hu. destruct (Nat.lt_ge_cases i 2) as [Hi | Hi].
    + etransitivity; [apply (square_of_draw n k i u Hi (settled_is_known n k u Hu)) |].
      rewrite (noise_length n k l i). symmetry. apply (square_of_draw n l i u Hi (settled_is_known n l u Hu)).
    + assert (none : forall m, noisy_draw n m i = noisy_draw n 0 i).
      { intros m. unfold noisy_draw, noise_at. destruct n, i as [| [|]]; try lia; reflexivity. }
      rewrite (none k), (none l). reflexivity.
Qed.

Theorem noisy_smooth_draws : smooth_draws noisy_stale_server 1 noisy_draw.
Proof.
  assert (same_gap : forall n k i y x, gap (noisy_draw n k i) y x = gap (client_at i) y x).
  { intros n k i y x. unfold gap. cbn [value grad noisy_draw].
    rewrite dot_plus, (dot_comm _ (noise_at n k i) (minus y x)), dot_minus, (dot_comm _ y), (dot_comm _ x (noise_at n k i)). ring. }
  constructor; [intros n k i _ y x | intros n k i _ y x | intros i _ | intros i _].
  - rewrite same_gap. exact (quadratic_convex _ _ _ _ flat_bounds y x).
  - rewrite same_gap. exact (quadratic_smooth _ _ _ _ flat_bounds y x).
  - exact (quadratic_convex _ _ _ _ flat_bounds).
  - exact (quadratic_smooth _ _ _ _ flat_bounds).
Qed.

Theorem noisy_independent : independent_weights noisy_stale_server settled (fun _ _ => True).
Proof. constructor; auto. intros n i u v _ _ _. cbn [weighed expected_weight noisy_stale_server]. apply dot_scale. Qed.

(** There is noise: of variance one in the first update. *)
Theorem noisy_is_noisy : ‖noise_of noisy_stale_server 0 0 0‖² = 1.
Proof. change (dot (noise_at 0 0 0) (noise_at 0 0 0) = 1). rewrite expected_of_all. cbn. field. Qed.
