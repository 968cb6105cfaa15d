(** Identities between inner products, decided by normal forms.

    Vectors are sums of multiples of atoms, which all clients share or which
    each client has one of, and means of such over the clients.  The normal form
    of a scalar is a list of monomials, each with a real coefficient; a scalar
    is zero where every coefficient is ([zero_by_coefficients]).  Nothing here
    is trusted: the lemmas of this file are proved. *)

From Coq Require Import Reals Lra Lia List Arith Bool Psatz.
Require Import Space Clients.
Import ListNotations.
Open Scope R_scope.

(** Expressions. *)
Inductive vexp :=
| VShared (k : nat)
| VOwn (k : nat)
| VPlus (u v : vexp)
| VMinus (u v : vexp)
| VScale (c : R) (u : vexp)
| VTimes (f : nat) (u : vexp)
| VMean (u : vexp).

Inductive sexp :=
| SDot (u v : vexp)
| SOwn (k : nat)
| SNumber (c : R)
| SPlus (a b : sexp)
| SMinus (a b : sexp)
| SScale (c : R) (a : sexp)
| STimes (f : nat) (a : sexp)
| SMean (a : sexp).

(** Basis vectors and monomials; [fs] lists the clients' own numbers that a member is multiplied by. *)
Inductive basis :=
| Shared (k : nat)
| Own (k : nat)
| Mean (fs : list nat) (k : nat).

Inductive monomial :=
| One
| Dot (a b : basis)
| MeanDot (fs : list nat) (k l : nat)
| Value (k : nat)
| MeanValue (fs : list nat) (k : nat).

Definition code_of_basis (b : basis) : list nat :=
  match b with Shared k => [0; k] | Own k => [1; k] | Mean fs k => 2 :: k :: fs end%nat.

Fixpoint le_code (a b : list nat) : bool :=
  match a, b with
  | [], _ => true
  | _ :: _, [] => false
  | x :: a, y :: b => if Nat.ltb x y then true else if Nat.eqb x y then le_code a b else false
  end.

Fixpoint eq_list (a b : list nat) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => if Nat.eqb x y then eq_list a b else false
  | _, _ => false
  end.

Definition eq_basis (a b : basis) : bool :=
  match a, b with
  | Shared k, Shared l | Own k, Own l => Nat.eqb k l
  | Mean fs k, Mean gs l => if Nat.eqb k l then eq_list fs gs else false
  | _, _ => false
  end.

Definition eq_monomial (m n : monomial) : bool :=
  match m, n with
  | One, One => true
  | Dot a b, Dot c d => if eq_basis a c then eq_basis b d else false
  | MeanDot fs k l, MeanDot gs k' l' =>
      if Nat.eqb k k' then if Nat.eqb l l' then eq_list fs gs else false else false
  | Value k, Value l => Nat.eqb k l
  | MeanValue fs k, MeanValue gs l => if Nat.eqb k l then eq_list fs gs else false
  | _, _ => false
  end.

Lemma eq_list_ok a b : eq_list a b = true -> a = b.
Proof.
  revert b; induction a; destruct b; simpl; try discriminate; auto.
  destruct (Nat.eqb a n) eqn:E; try discriminate. apply Nat.eqb_eq in E as ->. intros; f_equal; auto.
Qed.

Ltac known_equal :=
  repeat match goal with
  | H : (if ?b then _ else false) = true |- _ => destruct b eqn:?; [| discriminate]
  | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H; subst
  | H : eq_list _ _ = true |- _ => apply eq_list_ok in H; subst
  end.

Lemma eq_basis_ok a b : eq_basis a b = true -> a = b.
Proof. destruct a, b; simpl; try discriminate; intros; known_equal; auto. Qed.

Lemma eq_monomial_ok m n : eq_monomial m n = true -> m = n.
Proof.
  destruct m, n; simpl; try discriminate; intros; auto; known_equal; auto.
  repeat match goal with E : eq_basis _ _ = true |- _ => apply eq_basis_ok in E; subst end; auto.
Qed.

Fixpoint insert (x : nat) (l : list nat) : list nat :=
  match l with [] => [x] | y :: l' => if Nat.leb x y then x :: l else y :: insert x l' end.
Definition merged (a b : list nat) : list nat := fold_right insert b a.

Record world (V : space) := {
  of : clients;
  shared_atom : nat -> V;
  own_atom : nat -> nat -> V;
  own_value : nat -> nat -> R;
  own_number : nat -> nat -> R;
  noisy_shared : nat -> bool;
  noisy : nat -> bool;
  zeros_shared : nat -> bool;
  zeros : nat -> bool;
  vanishing : list nat -> nat -> bool;
  common_share : option R }.

Arguments of {V}.
Arguments shared_atom {V}.
Arguments own_atom {V}.
Arguments own_value {V}.
Arguments own_number {V}.
Arguments noisy_shared {V}.
Arguments noisy {V}.
Arguments zeros_shared {V}.
Arguments zeros {V}.
Arguments vanishing {V}.
Arguments common_share {V}.

Section Normal.
Context {V : space} (W : world V).

Fixpoint product (fs : list nat) (i : nat) : R :=
  match fs with [] => 1 | f :: fs => own_number W f i * product fs i end.

(** The properties that atoms have to have, such as vectors that vanish in the client average. *)
Record admissible : Prop := {
  noise_and_shared : forall k l i, (i < number (of W))%nat -> noisy W k = true -> noisy_shared W l = false ->
    dot (own_atom W k i) (shared_atom W l) = 0;
  noise_and_own : forall k l i j, (i < number (of W))%nat -> (j < number (of W))%nat ->
    noisy W k = true -> noisy W l = false -> dot (own_atom W k i) (own_atom W l j) = 0;
  noise_of_others : forall k l i j, (i < number (of W))%nat -> (j < number (of W))%nat -> i <> j ->
    noisy W k = true -> noisy W l = true -> dot (own_atom W k i) (own_atom W l j) = 0;
  shared_noise_and_shared : forall k l, noisy_shared W k = true -> k <> l ->
    dot (shared_atom W k) (shared_atom W l) = 0;
  shared_noise_and_own : forall k l i, (i < number (of W))%nat -> noisy_shared W k = true ->
    dot (shared_atom W k) (own_atom W l i) = 0;
  zero_shared : forall k w, zeros_shared W k = true -> dot (shared_atom W k) w = 0;
  zero_atoms : forall k i w, zeros W k = true -> dot (own_atom W k i) w = 0;
  vanishing_means : forall fs k w, vanishing W fs k = true ->
    dot (vmean (of W) (fun i => scale (product fs i) (own_atom W k i))) w = 0;
  shares_in_common : match common_share W with
    | Some s => forall i, (i < number (of W))%nat -> share (of W) i = s
    | None => forall i, (i < number (of W))%nat -> own_number W 0 i = share (of W) i
    end }.

Context (H : admissible).

(** Values of expressions. *)
Fixpoint veval (e : vexp) (i : nat) : V :=
  match e with
  | VShared k => shared_atom W k
  | VOwn k => own_atom W k i
  | VPlus u v => plus (veval u i) (veval v i)
  | VMinus u v => minus (veval u i) (veval v i)
  | VScale c u => scale c (veval u i)
  | VTimes f u => scale (own_number W f i) (veval u i)
  | VMean u => vmean (of W) (fun j => veval u j)
  end.

Fixpoint seval (e : sexp) (i : nat) : R :=
  match e with
  | SDot u v => dot (veval u i) (veval v i)
  | SOwn k => own_value W k i
  | SNumber c => c
  | SPlus a b => seval a i + seval b i
  | SMinus a b => seval a i - seval b i
  | SScale c a => c * seval a i
  | STimes f a => own_number W f i * seval a i
  | SMean a => mean (of W) (fun j => seval a j)
  end.

Definition beval (b : basis) (i : nat) : V :=
  match b with
  | Shared k => shared_atom W k
  | Own k => own_atom W k i
  | Mean fs k => vmean (of W) (fun j => scale (product fs j) (own_atom W k j))
  end.

Definition meval (m : monomial) (i : nat) : R :=
  match m with
  | One => 1
  | Dot a b => dot (beval a i) (beval b i)
  | MeanDot fs k l => mean (of W) (fun j => product fs j * dot (own_atom W k j) (own_atom W l j))
  | Value k => own_value W k i
  | MeanValue fs k => mean (of W) (fun j => product fs j * own_value W k j)
  end.

Definition entries (B : Type) := list (R * list nat * B).

Fixpoint total {B} (value : B -> nat -> R) (l : entries B) (i : nat) : R :=
  match l with [] => 0 | (c, fs, b) :: l => c * product fs i * value b i + total value l i end.

Lemma product_insert f fs i : product (insert f fs) i = own_number W f i * product fs i.
Proof.
  induction fs as [| g fs IH]; simpl; auto.
  destruct (Nat.leb f g); simpl; auto. rewrite IH; ring.
Qed.

Lemma product_merged a b i : product (merged a b) i = product a i * product b i.
Proof.
  unfold merged. induction a; simpl; [ring |]. rewrite product_insert, IHa; ring.
Qed.

Lemma total_app {B} value (a b : entries B) i : total value (a ++ b) i = total value a i + total value b i.
Proof. induction a as [| [[c fs] x] a IH]; simpl; [ring | rewrite IH; ring]. Qed.

Definition scaled {B} (c : R) (fs : list nat) (l : entries B) : entries B :=
  map (fun e => match e with (d, gs, b) => (c * d, merged fs gs, b) end) l.

Lemma total_scaled {B} value c fs (l : entries B) i :
  total value (scaled c fs l) i = c * product fs i * total value l i.
Proof.
  induction l as [| [[d gs] b] l IH]; simpl; [ring |]. rewrite IH, product_merged; ring.
Qed.

Definition with_mean (c : R) (fs : list nat) : R :=
  match fs with [] => c | _ => c * mean (of W) (product fs) end.

Lemma with_mean_eq c fs : with_mean c fs = c * mean (of W) (product fs).
Proof.
  destruct fs; simpl; auto. change (product []) with (fun _ : nat => 1). rewrite mean_const; ring.
Qed.

(** Client averages of vectors. *)
Definition mean_of_basis (e : R * list nat * basis) : entries basis :=
  match e with
  | (c, fs, Own k) => if vanishing W fs k then [] else [(c, [], Mean fs k)]
  | (c, fs, b) => [(with_mean c fs, [], b)]
  end.

Fixpoint vnormal (e : vexp) : entries basis :=
  match e with
  | VShared k => if zeros_shared W k then [] else [(1, [], Shared k)]
  | VOwn k => if zeros W k then [] else [(1, [], Own k)]
  | VPlus u v => vnormal u ++ vnormal v
  | VMinus u v => vnormal u ++ scaled (-1) [] (vnormal v)
  | VScale c u => scaled c [] (vnormal u)
  | VTimes f u => scaled 1 [f] (vnormal u)
  | VMean u => flat_map mean_of_basis (vnormal u)
  end.

Lemma shared_factor_leaves c fs v :
  mean (of W) (fun j => c * product fs j * v) = c * mean (of W) (product fs) * v.
Proof.
  rewrite (mean_ext (of W) _ (fun j => (c * v) * product fs j)) by (intros; ring). rewrite mean_scale; ring.
Qed.

Notation against w := (fun b i => dot (beval b i) w).

Lemma mean_of_basis_ok l w i :
  total (against w) (flat_map mean_of_basis l) i = mean (of W) (fun j => total (against w) l j).
Proof.
  induction l as [| [[c fs] b] l IH]; simpl.
  - symmetry. apply mean_const.
  - rewrite mean_plus, total_app, IH. f_equal.
    destruct b as [k | k | gs k]; simpl; try rewrite with_mean_eq.
    + rewrite (shared_factor_leaves c fs (dot (shared_atom W k) w)); ring.
    + assert (E : mean (of W) (fun j => c * product fs j * dot (own_atom W k j) w)
        = c * dot (vmean (of W) (fun i => scale (product fs i) (own_atom W k i))) w).
      { rewrite dot_vmean, <- mean_scale. apply mean_ext; intros. rewrite dot_scale; ring. }
      rewrite E. destruct (vanishing W fs k) eqn:D; simpl; [rewrite (vanishing_means H _ _ w D) |]; ring.
    + set (v := dot _ w). rewrite (shared_factor_leaves c fs v); ring.
Qed.

Lemma vnormal_ok e w : forall i, dot (veval e i) w = total (against w) (vnormal e) i.
Proof.
  induction e; intros i; simpl; try ring.
  - destruct (zeros_shared W k) eqn:Z; simpl; [rewrite (zero_shared H k w Z) |]; ring.
  - destruct (zeros W k) eqn:Z; simpl; [rewrite (zero_atoms H k i w Z) |]; ring.
  - rewrite dot_plus, total_app, IHe1, IHe2; ring.
  - rewrite dot_minus, total_app, total_scaled, IHe1, IHe2; simpl; ring.
  - rewrite dot_scale, total_scaled, IHe; simpl; ring.
  - rewrite dot_scale, total_scaled, IHe; simpl; ring.
  - rewrite dot_vmean, mean_of_basis_ok. apply mean_ext; intros; auto.
Qed.

(** Inner products of basis vectors. *)
Definition is_noise (b : basis) : bool :=
  match b with Shared k => noisy_shared W k | Own k => noisy W k | Mean _ k => noisy W k end.

Definition is_shared (b : basis) : bool := match b with Shared _ => true | _ => false end.

Definition sorted_dot (a b : basis) : monomial :=
  if le_code (code_of_basis a) (code_of_basis b) then Dot a b else Dot b a.

Definition sorted_mean (fs : list nat) (k l : nat) : monomial :=
  if Nat.leb k l then MeanDot fs k l else MeanDot fs l k.

Definition shared_factor : R := match common_share W with Some s => s | None => 1 end.
Definition share_numbers : list nat := match common_share W with Some _ => [] | None => [0%nat] end.

Definition dot_of (a b : basis) : entries monomial :=
  if is_noise a || is_noise b then
    match a, b with
    | Shared k, Shared l => if Nat.eqb k l then [(1, [], Dot a b)] else []
    | Shared _, _ | _, Shared _ => []
    | Own k, Own l => if noisy W k && noisy W l then [(1, [], sorted_dot a b)] else []
    | Own k, Mean fs l | Mean fs l, Own k =>
        if noisy W k && noisy W l then [(shared_factor, merged share_numbers fs, sorted_dot (Own k) (Own l))] else []
    | Mean fs k, Mean gs l =>
        if noisy W k && noisy W l
        then [(shared_factor, [], sorted_mean (merged share_numbers (merged fs gs)) k l)] else []
    end
  else [(1, [], sorted_dot a b)].

Lemma sorted_dot_ok a b i : meval (sorted_dot a b) i = dot (beval a i) (beval b i).
Proof. unfold sorted_dot. destruct le_code; simpl; auto. apply dot_comm. Qed.

Lemma sorted_mean_ok fs k l i :
  meval (sorted_mean fs k l) i = mean (of W) (fun j => product fs j * dot (own_atom W k j) (own_atom W l j)).
Proof.
  unfold sorted_mean. destruct Nat.leb; simpl; auto. apply mean_ext; intros. rewrite (dot_comm V (own_atom W l i0)); auto.
Qed.

Lemma share_known i : (i < number (of W))%nat -> share (of W) i = shared_factor * product share_numbers i.
Proof.
  intros Hi. pose proof (shares_in_common H) as E. unfold shared_factor, share_numbers.
  destruct (common_share W); rewrite (E i Hi) || rewrite <- (E i Hi); simpl; ring.
Qed.

Lemma own_with_mean k fs l i : (i < number (of W))%nat -> noisy W k = true -> noisy W l = true ->
  dot (own_atom W k i) (beval (Mean fs l) i)
  = shared_factor * product (merged share_numbers fs) i * dot (own_atom W k i) (own_atom W l i).
Proof.
  intros Hi Hk Hl. simpl. rewrite dot_comm, dot_vmean. unfold mean.
  rewrite (sum_single _ _ i Hi).
  - rewrite dot_scale, product_merged, (dot_comm V (own_atom W l i)), (share_known i Hi); ring.
  - intros j Hj other. rewrite dot_scale, (noise_of_others H l k j i); auto; ring.
Qed.

Lemma past_with_mean v fs k : (forall j, (j < number (of W))%nat -> dot (own_atom W k j) v = 0) ->
  forall i, dot (beval (Mean fs k) i) v = 0.
Proof.
  intros E i. simpl. rewrite dot_vmean. rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const |].
  intros j Hj. rewrite dot_scale, E; auto; ring.
Qed.

Lemma dot_of_ok a b i : (i < number (of W))%nat ->
  total meval (dot_of a b) i = dot (beval a i) (beval b i).
Proof.
  intros Hi. unfold dot_of. destruct (is_noise a || is_noise b) eqn:N;
    [| simpl; rewrite sorted_dot_ok; ring].
  destruct a as [k | k | fs k], b as [l | l | gs l]; simpl in N.
  - destruct (Nat.eqb k l) eqn:E; [simpl; ring |]. apply Nat.eqb_neq in E. simpl. symmetry.
    apply orb_true_iff in N as [N | N]; [| rewrite dot_comm]; apply (shared_noise_and_shared H); auto.
  - simpl. symmetry. destruct (noisy_shared W k) eqn:S; [apply (shared_noise_and_own H); auto |].
    rewrite dot_comm. apply (noise_and_shared H); auto.
  - cbn [total]. symmetry. rewrite dot_comm. apply past_with_mean. intros j Hj.
    destruct (noisy_shared W k) eqn:S; [rewrite dot_comm; apply (shared_noise_and_own H); auto |].
    apply (noise_and_shared H); auto.
  - simpl. symmetry. destruct (noisy_shared W l) eqn:S.
    + rewrite dot_comm. apply (shared_noise_and_own H); auto.
    + apply (noise_and_shared H); auto. now rewrite orb_false_r in N.
  - destruct (noisy W k) eqn:Hk, (noisy W l) eqn:Hl; cbn [andb total]; try discriminate.
    + rewrite sorted_dot_ok; simpl; ring.
    + symmetry. simpl. apply (noise_and_own H); auto.
    + symmetry. simpl. rewrite dot_comm. apply (noise_and_own H); auto.
  - destruct (noisy W k) eqn:Hk, (noisy W l) eqn:Hl; cbn [andb total]; try discriminate.
    + rewrite sorted_dot_ok. change (beval (Own k) i) with (own_atom W k i).
      rewrite (own_with_mean k gs l i); auto. simpl; ring.
    + symmetry. rewrite dot_comm. simpl. rewrite dot_vmean, (mean_ext _ _ (fun _ => 0)); [apply mean_const |].
      intros j Hj. rewrite dot_scale, dot_comm, (noise_and_own H k l i j); auto; ring.
    + symmetry. rewrite dot_comm. apply past_with_mean. intros j Hj. simpl. apply (noise_and_own H); auto.
  - cbn [total]. symmetry. apply past_with_mean. intros j Hj. simpl.
    destruct (noisy_shared W l) eqn:S; [rewrite dot_comm; apply (shared_noise_and_own H); auto |].
    apply (noise_and_shared H); auto. now rewrite orb_false_r in N.
  - destruct (noisy W l) eqn:Hl, (noisy W k) eqn:Hk; cbn [andb total]; try discriminate.
    + rewrite sorted_dot_ok, (dot_comm V (beval (Mean fs k) i)). change (beval (Own l) i) with (own_atom W l i).
      rewrite (own_with_mean l fs k i); auto. simpl; rewrite (dot_comm V (own_atom W l i)); ring.
    + symmetry. simpl. rewrite dot_vmean, (mean_ext _ _ (fun _ => 0)); [apply mean_const |].
      intros j Hj. rewrite dot_scale, dot_comm, (noise_and_own H l k i j); auto; ring.
    + symmetry. apply past_with_mean. intros j Hj. simpl. apply (noise_and_own H); auto.
  - destruct (noisy W k) eqn:Hk, (noisy W l) eqn:Hl; cbn [andb total]; try discriminate.
    + rewrite sorted_mean_ok. simpl (product [] i).
      transitivity (mean (of W) (fun j => product fs j * dot (own_atom W k j) (beval (Mean gs l) j))).
      * rewrite (mean_ext (of W) (fun j => product fs j * dot (own_atom W k j) (beval (Mean gs l) j))
          (fun j => shared_factor * (product (merged share_numbers (merged fs gs)) j
             * dot (own_atom W k j) (own_atom W l j)))).
        { rewrite mean_scale; ring. }
        intros j Hj. rewrite (own_with_mean k gs l j Hj Hk Hl), !product_merged; ring.
      * simpl. rewrite dot_vmean. apply mean_ext. intros j _. rewrite dot_scale; ring.
    + symmetry. rewrite dot_comm. simpl. rewrite dot_vmean, (mean_ext _ _ (fun _ => 0)); [apply mean_const |].
      intros j Hj. rewrite dot_scale, dot_comm, dot_vmean, (mean_ext _ _ (fun _ => 0)); [rewrite mean_const; ring |].
      intros m Hm. rewrite dot_scale, (noise_and_own H k l m j); auto; ring.
    + symmetry. simpl. rewrite dot_vmean, (mean_ext _ _ (fun _ => 0)); [apply mean_const |].
      intros j Hj. rewrite dot_scale, dot_comm, dot_vmean, (mean_ext _ _ (fun _ => 0)); [rewrite mean_const; ring |].
      intros m Hm. rewrite dot_scale, (noise_and_own H l k m j); auto; ring.
Qed.

Definition dots_with (e : R * list nat * basis) (l : entries basis) : entries monomial :=
  match e with (c, fs, a) => flat_map (fun e' => match e' with (d, gs, b) =>
    scaled (c * d) (merged fs gs) (dot_of a b) end) l end.

Lemma dots_ok i (Hi : (i < number (of W))%nat) k l :
  total meval (flat_map (fun e => dots_with e l) k) i
  = total (fun a i => total (fun b i => dot (beval a i) (beval b i)) l i) k i.
Proof.
  induction k as [| [[c fs] a] k IH]; simpl; auto. rewrite total_app, IH. f_equal. clear IH.
  induction l as [| [[d gs] b] l IH]; simpl; [ring |].
  rewrite total_app, IH, total_scaled, product_merged, dot_of_ok; auto; ring.
Qed.

(** Client averages of scalars. *)
Definition mean_of_monomial (e : R * list nat * monomial) : entries monomial :=
  match e with
  | (c, fs, Dot (Own k) (Own l)) => [(c, [], sorted_mean fs k l)]
  | (c, fs, Dot (Own k) b) | (c, fs, Dot b (Own k)) =>
      if vanishing W fs k then [] else scaled c [] (dot_of (Mean fs k) b)
  | (c, fs, Value k) => [(c, [], MeanValue fs k)]
  | (c, fs, m) => [(with_mean c fs, [], m)]
  end.

Definition is_closed (m : monomial) : bool :=
  match m with Value _ | Dot (Own _) _ | Dot _ (Own _) => false | _ => true end.

Lemma closed_ok m : is_closed m = true -> forall i j, meval m i = meval m j.
Proof. destruct m as [| a b | fs k l | k | fs k]; simpl; intros; try discriminate; auto; destruct a, b; simpl; auto; discriminate. Qed.

Lemma mean_of_dot c fs k b i : (i < number (of W))%nat -> (forall j, beval b j = beval b i) ->
  mean (of W) (fun j => c * product fs j * dot (own_atom W k j) (beval b j))
  = total meval (if vanishing W fs k then [] else scaled c [] (dot_of (Mean fs k) b)) i.
Proof.
  intros Hi E.
  assert (E' : mean (of W) (fun j => c * product fs j * dot (own_atom W k j) (beval b j))
    = c * dot (beval (Mean fs k) i) (beval b i)).
  { simpl. rewrite dot_vmean, <- mean_scale. apply mean_ext; intros. rewrite dot_scale, E; ring. }
  rewrite E'. destruct (vanishing W fs k) eqn:D.
  - simpl. rewrite (vanishing_means H _ _ _ D); ring.
  - rewrite total_scaled, dot_of_ok; auto. simpl; ring.
Qed.

Lemma mean_of_monomial_ok l i : (i < number (of W))%nat ->
  total meval (flat_map mean_of_monomial l) i = mean (of W) (fun j => total meval l j).
Proof.
  intros Hi. induction l as [| [[c fs] m] l IH].
  - simpl. symmetry. apply mean_const.
  - cbn [flat_map total]. rewrite mean_plus, total_app, IH. f_equal. clear IH.
    assert (closed : is_closed m = true ->
      total meval [(with_mean c fs, [], m)] i = mean (of W) (fun j => c * product fs j * meval m j)).
    { intros E. rewrite (mean_ext _ _ (fun j => (c * meval m i) * product fs j)).
      - rewrite mean_scale. cbn [total]. rewrite with_mean_eq. simpl; ring.
      - intros j Hj. rewrite (closed_ok m E j i); ring. }
    destruct m as [| a b | gs k l' | k | gs k]; try (apply closed; reflexivity).
    + destruct a as [k | k | gs k], b as [l' | l' | hs l']; try (apply closed; reflexivity).
      * cbn [mean_of_monomial]. rewrite <- mean_of_dot; auto. apply mean_ext; intros. cbn [meval].
        rewrite dot_comm; simpl; ring.
      * cbn [mean_of_monomial]. rewrite <- mean_of_dot; auto.
      * cbn [mean_of_monomial total]. rewrite sorted_mean_ok, Rplus_0_r. cbn [product]. rewrite Rmult_1_r, <- mean_scale.
        apply mean_ext; intros. simpl; ring.
      * cbn [mean_of_monomial]. rewrite <- mean_of_dot; auto.
      * cbn [mean_of_monomial]. rewrite <- mean_of_dot; auto. apply mean_ext; intros. cbn [meval].
        rewrite dot_comm; simpl; ring.
    + simpl. rewrite Rplus_0_r, Rmult_1_r, <- mean_scale. apply mean_ext; intros; ring.
Qed.

Fixpoint snormal (e : sexp) : entries monomial :=
  match e with
  | SDot u v => let l := vnormal v in flat_map (fun e => dots_with e l) (vnormal u)
  | SOwn k => [(1, [], Value k)]
  | SNumber c => [(c, [], One)]
  | SPlus a b => snormal a ++ snormal b
  | SMinus a b => snormal a ++ scaled (-1) [] (snormal b)
  | SScale c a => scaled c [] (snormal a)
  | STimes f a => scaled 1 [f] (snormal a)
  | SMean a => flat_map mean_of_monomial (snormal a)
  end.

Lemma total_congr {B} (f g : B -> nat -> R) l i : (forall b, f b i = g b i) -> total f l i = total g l i.
Proof. intros E. induction l as [| [[c fs] b] l IH]; simpl; auto. rewrite E, IH; auto. Qed.

Lemma snormal_ok e : forall i, (i < number (of W))%nat -> seval e i = total meval (snormal e) i.
Proof.
  induction e; intros i Hi; simpl; try ring.
  - rewrite dots_ok; auto. rewrite vnormal_ok. apply total_congr. intros b.
    rewrite dot_comm, vnormal_ok. apply total_congr. intros a. apply dot_comm.
  - rewrite total_app, IHe1, IHe2; auto.
  - rewrite total_app, total_scaled, IHe1, IHe2; auto. simpl; ring.
  - rewrite total_scaled, IHe; auto. simpl; ring.
  - rewrite total_scaled, IHe; auto. simpl; ring.
  - rewrite mean_of_monomial_ok; auto. apply mean_ext; auto.
Qed.

(** Adds the coefficients of equal monomials. *)
Definition same (fs gs : list nat) (m n : monomial) : bool :=
  if eq_monomial m n then eq_list fs gs else false.

Fixpoint add_to (c : R) (fs : list nat) (m : monomial) (l : entries monomial) : entries monomial :=
  match l with
  | [] => [(c, fs, m)]
  | (d, gs, n) :: l => if same fs gs m n then (c + d, gs, n) :: l else (d, gs, n) :: add_to c fs m l
  end.

Fixpoint collected (l : entries monomial) : entries monomial :=
  match l with [] => [] | (c, fs, m) :: l => add_to c fs m (collected l) end.

Lemma add_to_ok c fs m l i : total meval (add_to c fs m l) i = c * product fs i * meval m i + total meval l i.
Proof.
  induction l as [| [[d gs] n] l IH]; simpl; auto.
  destruct (same fs gs m n) eqn:E; simpl; [| rewrite IH; ring].
  unfold same in E. destruct (eq_monomial m n) eqn:D; [| discriminate].
  apply eq_monomial_ok in D; apply eq_list_ok in E; subst. ring.
Qed.

Lemma collected_ok l i : total meval (collected l) i = total meval l i.
Proof. induction l as [| [[c fs] m] l IH]; simpl; auto. rewrite add_to_ok, IH; auto. Qed.

Fixpoint all_zero (l : entries monomial) : Prop :=
  match l with [] => True | (c, _, _) :: l => c = 0 /\ all_zero l end.

Lemma all_zero_ok l i : all_zero l -> total meval l i = 0.
Proof. induction l as [| [[c fs] m] l IH]; simpl; auto. intros [-> A]. rewrite IH; auto. ring. Qed.

(** Two scalars are equal if all coefficients of the normal form of their difference vanish. *)
Theorem equal_by_coefficients (a b : sexp) i : (i < number (of W))%nat ->
  all_zero (collected (snormal (SMinus a b))) -> seval a i = seval b i.
Proof.
  intros Hi A. apply (all_zero_ok _ i) in A. rewrite collected_ok, <- snormal_ok in A; auto. simpl in A. lra.
Qed.

End Normal.

Lemma nonneg_by_identity a b t : b - a = t -> 0 <= t -> a <= b.
Proof. lra. Qed.

Lemma le_by_slack a b : 0 <= b - a -> a <= b.
Proof. lra. Qed.

(** Computes the list of coefficients, and leaves an equation for each. *)
Ltac coefficients :=
  cbv beta iota zeta delta
    [all_zero collected add_to same eq_monomial eq_basis eq_list snormal vnormal flat_map map app fold_right
     scaled merged insert mean_of_basis mean_of_monomial with_mean dots_with dot_of is_noise sorted_dot sorted_mean
     le_code code_of_basis shared_factor share_numbers product
     of shared_atom own_atom own_value own_number noisy_shared noisy zeros_shared zeros vanishing common_share
     andb orb Nat.eqb Nat.leb Nat.ltb].

(** Signs and denominators. *)
Ltac positive_parts :=
  repeat first
    [ assumption | lra
    | apply pow_lt | apply Rmult_lt_0_compat | apply Rplus_lt_0_compat | apply Rinv_0_lt_compat
    | apply Rdiv_lt_0_compat ].

Ltac nonnegative_parts :=
  repeat first [ assumption | lra | apply pow_le | apply Rmult_le_pos | apply Rplus_le_le_0_compat ].

(* One of two summands may be zero, such as a multiple of the index of a local step. *)
Ltac positive :=
  first
    [ solve [positive_parts]
    | apply Rplus_lt_le_0_compat; [solve [positive] | solve [nonnegative_parts]]
    | apply Rplus_le_lt_0_compat; [solve [nonnegative_parts] | solve [positive]]
    | apply Rmult_lt_0_compat; solve [positive]
    | positive_parts ].

Ltac nonzero := repeat split; first [ lra | apply Rgt_not_eq; solve [positive] | solve [nra] ].

(** Replaces the numbers under square roots by the squares of these roots. *)
Ltac with_roots :=
  repeat match goal with
  | H : ?x = sqrt ?x ^ 2 |- _ => let root := fresh "root" in remember (sqrt x) as root; try rewrite !H
  end.

Ltac by_field := first [solve [field; nonzero] | with_roots; field; nonzero].

Ltac by_coefficients := coefficients; repeat split; first [ ring | field; nonzero ].

Ltac nonnegative :=
  repeat first
    [ assumption | lra
    | apply pow2_ge_0 | apply pow_le | apply Rmult_le_pos | apply Rplus_le_le_0_compat
    | apply Rlt_le; apply Rinv_0_lt_compat; positive ];
  try nra.

Lemma quotient_nonneg a b : 0 <= a -> 0 < b -> 0 <= a / b.
Proof. intros. apply Rmult_le_pos; auto. apply Rlt_le, Rinv_0_lt_compat; auto. Qed.
