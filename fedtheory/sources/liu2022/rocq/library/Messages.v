(** What one aggregation sends, message by message, by a parameter server and by a ring of workers.

    Liu et al. (2022), section III. *)

From Coq Require Import Reals Lra Lia List Arith.
Require Import Space Clients Objectives Normal Step Run.
Open Scope R_scope.

(** A node is the server, or worker w. *)
Definition node : Type := option nat.
Record message := { sender : node; receiver : node; size : R }.

Definition same_node (u v : node) : bool :=
  match u, v with None, None => true | Some i, Some j => Nat.eqb i j | _, _ => false end.

(** The numbers of those messages that are from a node, or to it. *)
Definition total (of : message -> bool) (messages : list message) : R :=
  fold_right (fun m rest => if of m then size m + rest else rest) 0 messages.
Definition sent (u : node) : list message -> R := total (fun m => same_node (sender m) u).
Definition received (u : node) : list message -> R := total (fun m => same_node (receiver m) u).

(** Every worker sends its model of b numbers to the server, then receives the result. *)
Definition parameter_server (N : nat) (b : R) : list message :=
  map (fun w => {| sender := Some w; receiver := None; size := b |}) (seq 0 N) ++
  map (fun w => {| sender := None; receiver := Some w; size := b |}) (seq 0 N).

(** N - 1 phases that sum up and N - 1 that spread the sums; in each of them every worker sends an N-th of a model to its
    neighbour. *)
Definition ring_all_reduce (N : nat) (b : R) : list message :=
  flat_map (fun _ => map (fun w => {| sender := Some w; receiver := Some (Nat.modulo (w + 1) N); size := b / INR N |})
    (seq 0 N)) (seq 0 (2 * (N - 1))).

Definition server_load (A : run) (b : R) : R :=
  let messages := parameter_server (number (clients_of A)) b in sent None messages + received None messages.
Definition sent_in_ring (A : run) (b : R) (w : nat) : R := sent (Some w) (ring_all_reduce (number (clients_of A)) b).

Lemma total_app of l m : total of (l ++ m) = total of l + total of m.
Proof.
  unfold total. induction l as [| x l IH]; simpl; [ring |]. destruct (of x); rewrite IH; ring.
Qed.

Lemma total_all of (f : nat -> message) b l : (forall w, of (f w) = true) -> (forall w, size (f w) = b) ->
  total of (map f l) = INR (List.length l) * b.
Proof.
  intros all same. induction l as [| w l IH]; [simpl; ring |].
  cbn [map List.length]. rewrite S_INR. unfold total in *. simpl. rewrite all, IH, same. ring.
Qed.

Lemma total_none of (f : nat -> message) l : (forall w, In w l -> of (f w) = false) -> total of (map f l) = 0.
Proof.
  intros none. induction l as [| w l IH]; [reflexivity |].
  unfold total in *. simpl. rewrite none by (left; reflexivity). apply IH. intros v Hv. apply none. right. exact Hv.
Qed.

Lemma server_messages A b : server_load A b = 2 * M_of A * b.
Proof.
  unfold server_load, sent, received, parameter_server. rewrite !total_app.
  rewrite (total_none (fun m => same_node (sender m) None) (fun w => {| sender := Some w; receiver := None; size := b |}))
    by reflexivity.
  rewrite (total_none (fun m => same_node (receiver m) None) (fun w => {| sender := None; receiver := Some w; size := b |}))
    by reflexivity.
  rewrite !(total_all _ _ b) by reflexivity. rewrite !seq_length. unfold M_of. ring.
Qed.

Lemma sent_in_a_phase N w c (to : nat -> node) : (w < N)%nat ->
  sent (Some w) (map (fun v => {| sender := Some v; receiver := to v; size := c |}) (seq 0 N)) = c.
Proof.
  intros Hw. replace (seq 0 N) with (seq 0 w ++ w :: seq (S w) (N - S w)).
  - rewrite map_app. unfold sent. rewrite total_app. rewrite total_none.
    + cbn [map]. unfold total. cbn [fold_right sender same_node size]. rewrite Nat.eqb_refl.
      fold (total (fun m => same_node (sender m) (Some w))).
      change (0 + (c + total (fun m => same_node (sender m) (Some w))
        (map (fun v => {| sender := Some v; receiver := to v; size := c |}) (seq (S w) (N - S w)))) = c).
      rewrite total_none; [ring |]. intros v Hv. apply in_seq in Hv. apply Nat.eqb_neq. lia.
    + intros v Hv. apply in_seq in Hv. apply Nat.eqb_neq. lia.
  - change (w :: seq (S w) (N - S w)) with (seq (0 + w) (S (N - S w))). rewrite <- seq_app. f_equal. lia.
Qed.

Lemma ring_messages A b w : (w < number (clients_of A))%nat ->
  M_of A * sent_in_ring A b w = 2 * (M_of A - 1) * b.
Proof.
  intros Hw. unfold sent_in_ring, ring_all_reduce, M_of. set (N := number (clients_of A)) in *.
  assert (phases : forall l : list nat, sent (Some w) (flat_map (fun _ =>
      map (fun v => {| sender := Some v; receiver := Some (Nat.modulo (v + 1) N); size := b / INR N |}) (seq 0 N)) l)
    = INR (List.length l) * (b / INR N)).
  { induction l as [| p l IH]; [simpl; unfold sent, total; simpl; ring |].
    cbn [flat_map List.length]. rewrite S_INR. unfold sent in *. rewrite total_app, IH.
    pose proof (sent_in_a_phase N w (b / INR N) (fun v => Some (Nat.modulo (v + 1) N)) Hw) as one.
    unfold sent in one. rewrite one. ring. }
  rewrite phases, seq_length, mult_INR, minus_INR by lia. simpl (INR 2). simpl (INR 1). field.
  apply not_0_INR. lia.
Qed.
