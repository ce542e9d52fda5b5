# Each task lives in .ci/run; this file only names them.
VENV ?= .venv
export VENV

.PHONY: audit test lint type arch wheel slow bench live docs site cards ci

audit: ## set up, and audit the embedded model on the bundled sample
	@bash .ci/run audit

test: ## set up, and pass the tests
	@bash .ci/run test

lint type arch wheel slow bench live docs site cards:
	@bash .ci/run $@

ci: ## all that CI does
	@bash .ci/run all
