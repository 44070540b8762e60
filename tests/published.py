"""Where the tests let this project be published: a clone does not know, and then nothing is linked."""

HOMEPAGE = "https://github.com/publisher/skillgate"
REF = "v9.9.9"
