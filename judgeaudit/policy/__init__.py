"""Policies as data, their renderings, their certificates, and the prompts made of them."""

from judgeaudit.policy.loading import facts, load_policy, policy_names, policy_path
from judgeaudit.policy.prompts import (
    build_prompt,
    judge_template_names,
    load_judge_template,
    vacuum_trajectory,
)
from judgeaudit.policy.readback import certify, read_back
from judgeaudit.policy.rendering import render, render_all
from judgeaudit.policy.transforms import load_conditions

__all__ = [
    "build_prompt",
    "certify",
    "facts",
    "judge_template_names",
    "load_conditions",
    "load_judge_template",
    "load_policy",
    "policy_names",
    "policy_path",
    "read_back",
    "render",
    "render_all",
    "vacuum_trajectory",
]
