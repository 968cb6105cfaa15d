"""Names of other tools for the keys of a run file."""

from __future__ import annotations

from collections.abc import Collection

_SYNONYMS = {
    "local_step_size": "lr learning_rate step_size stepsize eta client_lr local_lr local_learning_rate gamma",
    "local_steps": "E K tau epochs local_epochs num_epochs steps local_iterations local_updates",
    "server_step_size": "server_lr server_learning_rate global_lr eta_g",
    "rounds": "T num_rounds n_rounds communication_rounds global_rounds iterations",
    "participation": "clients_per_round fraction fraction_fit client_fraction sampling C",
    "momentum": "beta server_momentum",
    "proximal": "mu proximal_mu prox",
    "batch": "batch_size batchsize minibatch mini_batch minibatch_size B",
    "replacement": "replace with_replacement",
    "ridge": "alpha lambda lam l2 weight_decay regularization reg",
    "penalize_intercept": "penalise_intercept regularize_intercept",
    "intercept": "fit_intercept bias add_intercept",
    "standardize": "standardise normalize normalise scale scaling",
    "shares": "client_weights weighting",
    "clients": "num_clients n_clients M",
    "client": "group client_column client_id",
    "target": "label outcome y target_column",
    "features": "columns inputs_columns x X",
    "drop": "ignore exclude without drop_columns skip",
    "data": "file path csv dataset",
    "concentration": "dirichlet dirichlet_alpha",
    "seed": "random_state",
    "start": "init initial x0 w0",
}
_REMARKS = {
    "local_epochs": "an epoch of a client with n rows is n/batch steps",
    "num_epochs": "an epoch of a client with n rows is n/batch steps",
    "epochs": "an epoch of a client with n rows is n/batch steps",
    "E": "an epoch of a client with n rows is n/batch steps",
    "alpha": "scikit-learn's alpha is n ridge/2",
    "fraction": 'write { kind = "uniform", clients = 5 } for 5 clients a round',
    "fraction_fit": 'write { kind = "uniform", clients = 5 } for 5 clients a round',
    "clients_per_round": 'write { kind = "uniform", clients = 5 } for 5 clients a round',
}
_KEYS = {name: key for key, names in _SYNONYMS.items() for name in names.split()}


def find_key(name: str, known: Collection[str]) -> str | None:
    """Return the key of `known` that a name of another tool stands for; None if there is none."""
    key = _KEYS.get(name) or _KEYS.get(name.lower())
    return key if key in known else None


def describe_key(name: str, key: str) -> str:
    """Return a sentence that translates another tool's name into the key of a run file."""
    remark = _REMARKS.get(name)
    return f"{name} is called {key} here" + (f" ({remark})" if remark else "")
