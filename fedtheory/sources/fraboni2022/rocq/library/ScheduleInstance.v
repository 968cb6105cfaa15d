(** A schedule exists that is both one of FedFix and one of asynchronous FedAvg: two clients that need the times 1 and 2,
    so that the first reports in every update, and the second in every other one. *)

From Coq Require Import Reals Lra Lia Arith Bool.
Require Import Space Clients Schedule.
Require Run.
Open Scope R_scope.

Definition two_reporters : clients.
Proof. refine {| number := 2; share := fun _ => 1 / 2 |}; [lia | intros; lra | simpl; lra]. Defined.

Definition in_turn : schedule.
Proof.
  refine {| clients_of := two_reporters; time_of := fun i => INR (S i); weight_of := fun _ => 1 / 2; updates := 2;
    duration := fun _ => 1; reports := fun n i => match i with O => true | _ => Nat.odd n end |}.
  - intros i _. apply lt_0_INR. lia.
  - intros. lra.
  - lia.
Defined.

Lemma instants n : instant in_turn n = INR n.
Proof. unfold instant. cbn [duration in_turn]. rewrite sum_const. ring. Qed.

Lemma first_is_new n : age in_turn n 0 = 0%nat.
Proof. destruct n; reflexivity. Qed.

Lemma second_is_old n : age in_turn n 1 = if Nat.odd n then 1%nat else 0%nat.
Proof.
  induction n as [| n IH]; [reflexivity |]. cbn [age]. change (reports in_turn n 1) with (Nat.odd n).
  rewrite IH, Nat.odd_succ, <- Nat.negb_odd. destruct (Nat.odd n); reflexivity.
Qed.

Lemma remaining_of_first n : remaining in_turn n 0 = 1.
Proof. unfold remaining. rewrite first_is_new, Nat.sub_0_r. cbn [time_of in_turn]. simpl INR. ring. Qed.

Lemma remaining_of_second n : remaining in_turn n 1 = if Nat.odd n then 1 else 2.
Proof.
  unfold remaining. rewrite second_is_old, !instants. cbn [time_of in_turn]. destruct (Nat.odd n) eqn:odd.
  - destruct n as [| n]; [discriminate |]. replace (S n - 1)%nat with n by lia. rewrite (S_INR n). simpl INR. ring.
  - rewrite Nat.sub_0_r. simpl INR. ring.
Qed.

Ltac each_client i Hi := destruct i as [| [| i]]; [| | cbn in Hi; lia].

Theorem in_turn_fixed : fixed_intervals in_turn 1.
Proof.
  constructor; [lra | reflexivity |]. intros n i Hi. each_client i Hi.
  - rewrite remaining_of_first. cbn. split; auto. intros. lra.
  - rewrite remaining_of_second. cbn. destruct (Nat.odd n); split; auto; [intros; lra | discriminate | intros; lra].
Qed.

Theorem in_turn_asynchronous : asynchronous in_turn.
Proof.
  constructor.
  - intros n i Hi. change (1 <= remaining in_turn n i). each_client i Hi.
    + rewrite remaining_of_first. lra.
    + rewrite remaining_of_second. destruct (Nat.odd n); lra.
  - intros n. exists 0%nat. cbn. split; [lia | reflexivity].
  - intros n i Hi. change (reports in_turn n i = true -> remaining in_turn n i = 1). each_client i Hi.
    + intros _. apply remaining_of_first.
    + cbn [reports in_turn]. rewrite remaining_of_second. intros ->. reflexivity.
  - intros n i j before Hj _ _. cbn in Hj. destruct i as [| i]; [reflexivity | lia].
Qed.

(** Two updates are whole cycles, the least period and the smallest window. *)
Theorem in_turn_whole_cycles : whole_cycles in_turn (time_of in_turn).
Proof. intros i Hi. unfold report_count, clock_time. rewrite instants. each_client i Hi; cbn; field. Qed.

Theorem in_turn_period : least_period in_turn 2.
Proof.
  split.
  - split; [lra |]. intros i Hi. each_client i Hi; [exists 2%nat | exists 1%nat]; cbn; lra.
  - intros other [positive divided]. destruct (divided 1%nat ltac:(cbn; lia)) as [k Hk]. cbn [time_of in_turn] in Hk.
    destruct k as [| k]; [simpl in Hk; lra |]. rewrite S_INR in Hk. pose proof (pos_INR k). simpl (INR 2) in Hk. lra.
Qed.

Theorem in_turn_window : smallest_window in_turn 2.
Proof.
  split.
  - split; [lia |]. exists 1%nat. split; [reflexivity |]. intros [| b] i; [reflexivity | lia].
  - intros [| [| other]] [positive [blocks [number_of_updates same]]]; [lia | | lia]. exfalso.
    cbn in number_of_updates. specialize (same 1%nat 1%nat ltac:(lia) ltac:(cbn; lia)). cbn in same. lra.
Qed.
