"""The standard handoffs offered when composing (`REQUIREMENTS.md` B.2)."""

from __future__ import annotations

from team_console.store.settings.team_config import Route, TeamConfig

STANDARD_ROUTES: tuple[Route, ...] = tuple(
    Route(key, trigger, sender, recipient, tuple(payload.split()))
    for key, trigger, sender, recipient, payload in (
        (
            *("analyst_to_pm", "product brief complete", "analyst", "pm"),
            "product_brief_path key_insights recommended_priorities",
        ),
        (
            *("pm_to_architect", "PRD complete", "pm", "architect"),
            "prd_path priority_features technical_constraints timeline_expectations",
        ),
        ("pm_to_ux", "PRD with UI complete", "pm", "ux-designer", "prd_path user_personas key_user_flows"),
        (
            *("architect_to_sm", "architecture approved", "architect", "sm"),
            "architecture_path tech_decisions component_boundaries api_contracts",
        ),
        (
            *("ux_to_sm", "UX design complete", "ux-designer", "sm"),
            "ux_design_path component_library interaction_patterns",
        ),
        ("sm_to_dev", "story ready", "sm", "dev", "story_path acceptance_criteria technical_notes dependencies"),
        (
            *("dev_to_tea", "implementation complete", "dev", "tea"),
            "story_path files_changed test_coverage review_request",
        ),
        (
            *("tea_to_dev", "review complete with issues", "tea", "dev"),
            "review_findings severity_breakdown required_actions",
        ),
    )
)


def routes_of(config: TeamConfig) -> tuple[Route, ...]:
    """The team's handoffs: those of its settings, then the standard ones whose key it does not define.

    A standard route is offered only where the team declares no members or has both of its ends.
    """
    own = {route.key for route in config.routes}
    usable = (
        route
        for route in STANDARD_ROUTES
        if not config.declared or (route.sender in config.agents and route.recipient in config.agents)
    )
    return (*config.routes, *(route for route in usable if route.key not in own))
