# The image of the Action. GitHub builds the last stage, `full`, at the start of a job that says `uses: <account>/skillgate@…`,
# without build arguments and with this directory as its context; `static` is the same without the model's libraries.
# There is no `# syntax` line on purpose: it would fetch one more program, unpinned, into every user's build.

ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

# --- our own wheel ---
FROM ${PYTHON_IMAGE} AS wheel
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY docker/build.txt docker/
RUN python3 -m venv --without-pip /opt/build \
    && python3 -m pip --python /opt/build/bin/python install --require-hashes --only-binary :all: -r docker/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY skillgate skillgate
RUN /opt/build/bin/python -m hatchling build --target wheel --directory /wheel

# --- one environment a stage, without pip: what is not in the locks cannot come in ---
FROM ${PYTHON_IMAGE} AS environment
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
RUN python3 -m venv --without-pip /opt/skillgate

FROM environment AS environment-static
COPY docker/static.txt docker/
RUN python3 -m pip --python /opt/skillgate/bin/python install --require-hashes --only-binary :all: -r docker/static.txt
COPY --from=wheel /wheel /wheel
COPY docker/slim docker/
RUN python3 -m pip --python /opt/skillgate/bin/python install --no-deps --no-index /wheel/*.whl \
    && sh docker/slim /opt/skillgate

FROM environment AS environment-full
COPY docker/full.txt docker/
RUN python3 -m pip --python /opt/skillgate/bin/python install --require-hashes --only-binary :all: -r docker/full.txt
COPY --from=wheel /wheel /wheel
COPY docker/slim docker/
RUN python3 -m pip --python /opt/skillgate/bin/python install --no-deps --no-index /wheel/*.whl \
    && sh docker/slim /opt/skillgate

# --- what both stages stand on ---
FROM ${PYTHON_IMAGE} AS base
# Git comes from the distribution's own signed archive: a pinned version would be gone from it with the next fix.
# Only the package itself, and of it what works on a repository that is here: Perl, curl and the programs that speak to
# other machines are not used. dpkg knows of git, so that scanners do; an image on top of this one that installs packages begins with apt-get --fix-broken install.
RUN apt-get update \
    && apt-get download git \
    && dpkg --force-depends --install ./git_*.deb \
    && apt-get clean \
    && rm -rf ./git_*.deb /var/lib/apt/lists/* /usr/share/doc/git /usr/share/gitweb /usr/share/perl5 \
        /usr/bin/git-shell /usr/bin/scalar /usr/lib/git-core/scalar /usr/lib/git-core/git-daemon \
        /usr/lib/git-core/git-http-* /usr/lib/git-core/git-imap-send /usr/lib/git-core/git-remote-* \
        /usr/lib/git-core/git-sh-i18n--envsubst /usr/lib/git-core/git-shell \
    && ln -sf /usr/bin/git /usr/lib/git-core/git \
# The workspace belongs to another user, and HOME is not ours at run time: only the system's configuration is sure to be
# read. A directory that a pull request has laid out like a bare repository is not one.
    && git config --system safe.directory '*' \
    && git config --system safe.bareRepository explicit
# No USER: GitHub runs Docker actions as root, and any other user cannot write the files that a step hands back.
# The interpreter by its full path and isolated: neither PATH, nor PYTHONPATH, nor a yaml.py in the pull request counts.
ENTRYPOINT ["/opt/skillgate/bin/python", "-I", "-m", "skillgate"]
CMD ["action"]

FROM base AS static
COPY --from=environment-static /opt/skillgate /opt/skillgate

FROM base AS full
COPY --from=environment-full /opt/skillgate /opt/skillgate
